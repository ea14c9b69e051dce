"""Show, start, stop or remove the embedded PostgreSQL and Valkey."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config import embedded


class Command(BaseCommand):
    """Show, start or stop the embedded servers of this checkout."""

    help = "Show, start or stop the embedded PostgreSQL and Valkey of this checkout (STATE_DIR)."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what to do."""
        parser.add_argument(
            "action", choices=["status", "start", "stop", "restart", "remove"], nargs="?", default="status"
        )

    def handle(self, *, action: str, **options: Any) -> None:  # what Django passes to every command
        """Do it for each embedded server; `status` exits with 1 where one is down."""
        servers = embedded.servers()
        if not servers:
            self.stdout.write("DATABASE_URL and REDIS_URL are set: nothing is embedded.")
        try:
            for server in servers:
                self._act(server, action)
        except embedded.ServiceError as error:
            raise CommandError(str(error)) from error
        if action == "status" and not all(server.is_running() for server in servers):
            sys.exit(1)

    def _act(self, server: embedded.Server, action: str) -> None:
        if action in {"stop", "restart"}:
            self.stdout.write(f"{server.name}: {'stopped' if server.stop() else 'did not run'}")
        if action == "remove":
            server.remove()
            self.stdout.write(f"{server.name}: removed, with all its data")
            return
        if action in {"start", "restart"}:
            server.start()
        if action != "stop":
            state = f"runs, pid {server.pid}, {server.url}" if server.is_running() else "does not run"
            self.stdout.write(f"{server.name}: {state}")
