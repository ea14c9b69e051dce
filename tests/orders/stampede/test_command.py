"""`manage.py stampede` over real HTTP, with web workers of its own."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from orders.stampede import site
from tests.workers import share_database

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str) -> tuple[int | str | None, dict[str, Any]]:  # the exit code, and the JSON of the command
    """Run the command, and read what it printed."""
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("stampede", "--json", "--workers", "2", "--threads", "16", *arguments, stdout=out)
    return ended.value.code, json.loads(out.getvalue())


@pytest.fixture(autouse=True)
def _workers_share_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers that the command starts sell what this test looks at."""
    share_database(monkeypatch)


def test_a_sale_is_exact() -> None:
    """Ten units, 120 buyers who press twice: ten orders, each replayed, the books exact."""
    code, verdict = run("--buyers", "120", "--stock", "10", "--concurrency", "60")

    assert code == 0
    assert (verdict["placed"], verdict["sold_out"], verdict["audit"]) == (10, 110, "clean")
    assert (verdict["oversold"], verdict["stranded"], verdict["doubled"]) == (0, 0, 0)
    assert verdict["replayed"] == 20


def test_several_products_are_exact() -> None:
    """Five products of four units, three sendings each."""
    code, verdict = run("--buyers", "60", "--stock", "4", "--products", "5", "--repeats", "3")

    assert code == 0
    assert (verdict["stock"], verdict["placed"], verdict["sold_out"]) == (20, 20, 40)


def test_the_lock_admission_is_exact() -> None:
    """The field's classic keeps the promises too; only slower."""
    code, verdict = run("--buyers", "30", "--stock", "5", "--admission", "lock", "--concurrency", "10")

    assert code == 0
    assert (verdict["placed"], verdict["audit"]) == (5, "clean")


def test_the_negative_control_oversells() -> None:
    """Read, decide, write: the journal sees it and so do the books, and the command exits with 0."""
    code, verdict = run("--buyers", "80", "--stock", "5", "--repeats", "1", "--admission", "none")

    assert code == 0
    assert verdict["oversold"] > 0
    assert verdict["audit"] != "clean"


def test_a_site_elsewhere_is_judged_through_its_api() -> None:
    """With --url nothing but HTTP is used: products, stock and ledger are read from the API."""
    with site.own_site(project="config", workers=1, threads=8) as url:
        code, verdict = run("--buyers", "20", "--stock", "3", "--url", url)

    assert code == 0
    assert (verdict["placed"], verdict["audit"]) == (3, "clean")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--buyers", "0"], "--buyers"),
        (["--repeats", "0"], "--repeats"),
        (["--concurrency", "10001"], "--concurrency"),
        (["--url", "http://127.0.0.1:1"], "does not answer"),
        (["--url", "http://127.0.0.1:1", "--admission", "none"], "--url"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments: list[str], word: str) -> None:
    """What cannot be done is refused before anything is made."""
    with pytest.raises(CommandError, match=word):
        call_command("stampede", *arguments)
