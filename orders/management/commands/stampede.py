"""Storm the site with buyers, and prove that the promises held."""

import contextlib
import json
import resource
import sys
import uuid
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import Progress

from access import tokens
from access.caller import STOCK_WRITE
from inventory.models import Admission
from orders.stampede import report, site
from orders.stampede.books import Books, OwnBooks, RemoteBooks
from orders.stampede.crowd import Crowd
from orders.stampede.journal import Journal
from orders.stampede.plan import NONE, Plan
from orders.stampede.verdict import Verdict, judge

TOKEN_SECONDS = 3600.0
#: Buyers whose tokens are kept while they repeat themselves.
TOKENS_KEPT_MAX = 100_000
LIMITS = {"buyers": 1_000_000, "stock": 1_000_000, "repeats": 100, "concurrency": 10_000, "products": 1000}
#: Descriptors that a process needs beside its connections.
DESCRIPTORS_SPARE = 64


class Command(BaseCommand):
    """Storm the site with buyers, and prove that the promises held; exit with 1 where one did not."""

    help = "Sell a few units to many buyers at once over real HTTP, then prove by journal and audit that all is exact."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the size of the crowd."""
        parser.add_argument("--buyers", type=int, default=1000)
        parser.add_argument("--stock", type=int, default=10, help="units of each product")
        parser.add_argument("--repeats", type=int, default=2, help="times each request is sent, in all")
        parser.add_argument("--concurrency", type=int, default=200, help="calls in flight at most")
        parser.add_argument("--products", type=int, default=1, help="products that the buyers spread over")
        parser.add_argument("--admission", choices=[*Admission.values, NONE], default=Admission.DIRECT.value)
        parser.add_argument("--workers", type=int, default=2, help="web workers to start")
        parser.add_argument("--threads", type=int, default=32, help="threads of each")
        parser.add_argument("--url", help="a site that runs, instead of workers of our own; JWT_SECRET must be its own")
        parser.add_argument("--json", action="store_true", dest="is_json", help="print one JSON object")

    def handle(self, *, url: str | None, is_json: bool, **options: Any) -> None:  # what Django passes
        """Run, print, and exit by the verdict."""
        plan = _plan(options)
        if url is not None and plan.admission == NONE:
            raise CommandError("the negative control exists in the benchmark alone: leave out --url")
        try:
            verdict = self._run(plan, url, options, is_quiet=is_json)
        except (site.SiteError, tokens.CannotIssue) as error:
            raise CommandError(str(error)) from error
        if is_json:
            self.stdout.write(json.dumps(verdict.as_json()))
        else:
            report.show(Console(file=sys.stdout), plan=plan, verdict=verdict)
        has_held = bool(verdict.oversold) if plan.admission == NONE else not verdict.broken
        sys.exit(0 if has_held else 1)

    def _run(self, plan: Plan, url: str | None, options: dict[str, Any], *, is_quiet: bool) -> Verdict:
        books: Books = OwnBooks()
        if url is not None:
            url = url.rstrip("/")
            site.check(url)
            books = RemoteBooks(url=url, token=_token("stampede", STOCK_WRITE))
        books.open_sale(plan)
        with contextlib.ExitStack() as stack:
            if url is None:
                project = "bench" if plan.admission == NONE else "config"
                workers = site.own_site(project=project, workers=options["workers"], threads=options["threads"])
                url = stack.enter_context(workers)
            with _progress(plan, is_quiet=is_quiet) as tell:
                return _storm(plan, url, books, tell)


def _storm(plan: Plan, url: str, books: Books, tell: Callable[[int], None]) -> Verdict:
    """Rush, then repeat every order, then ask the refused again while units are left; judge all of it."""
    token_of = lru_cache(TOKENS_KEPT_MAX)(_token)
    rush, proof = Journal(), Journal()
    seconds = Crowd(plan=plan, url=url, token_of=token_of, journal=rush, tell=tell).rush(plan.wishes)
    again = Crowd(plan=plan, url=url, token_of=token_of, journal=proof)
    again.ask_again(list(rush.orders()))
    if plan.admission != NONE and books.available(plan):
        again.ask_again(rush.without_order())
    return judge(
        plan=plan,
        rush=rush,
        proof=proof,
        seconds=seconds,
        available=books.available(plan),
        breaches=books.breaches(plan),
    )


def _token(buyer: str, scope: str = "") -> str:
    return tokens.issue(buyer, scopes=scope.split(), seconds=TOKEN_SECONDS)


def _plan(options: dict[str, Any]) -> Plan:
    for name, most in LIMITS.items():
        if not 1 <= options[name] <= most:
            raise CommandError(f"--{name} must be 1 to {most}")
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if options["concurrency"] + DESCRIPTORS_SPARE > descriptors:
        raise CommandError(
            f"--concurrency {options['concurrency']} needs more than the {descriptors} files of ulimit -n"
        )
    size = {name: options[name] for name in LIMITS}
    return Plan(run=uuid.uuid4().hex[:10], admission=options["admission"], **size)


@contextlib.contextmanager
def _progress(plan: Plan, *, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    with Progress(console=console, disable=is_quiet or not console.is_terminal, transient=True) as progress:
        task = progress.add_task("buyers pressing the button", total=plan.buyers * plan.repeats)
        yield lambda count: progress.update(task, advance=count)
