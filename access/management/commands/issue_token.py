"""Print a token."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from access import tokens

HOURS_DEFAULT = 24.0
HOURS_MAX = 24.0 * 366


class Command(BaseCommand):
    """Print a token signed with JWT_SECRET."""

    help = "Print a bearer token for a buyer or a backend, signed with JWT_SECRET."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take whom it is for, what it allows, and how long it lasts."""
        parser.add_argument("subject", help="the buyer: 1 to 128 printable characters")
        parser.add_argument("--scope", default="", help='such as "stock:write" or "orders:any-buyer stock:write"')
        parser.add_argument("--hours", type=float, default=HOURS_DEFAULT, help="how long it is valid (default: 24)")

    def handle(self, *, subject: str, scope: str, hours: float, **options: Any) -> None:  # what Django passes
        """Print it, alone on its line."""
        if not 0 < hours <= HOURS_MAX:
            raise CommandError(f"--hours must be more than 0 and at most {HOURS_MAX:.0f}")
        try:
            self.stdout.write(tokens.issue(subject, scopes=scope.split(), seconds=hours * 3600))
        except (tokens.CannotIssue, ValueError) as error:
            raise CommandError(str(error)) from error
