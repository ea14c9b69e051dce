"""Make a member of staff for the admin, once."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

USERNAME = "staff"
PASSWORD_BYTES = 12


class Command(BaseCommand):
    """Make the user `staff` with a random password, and print it once."""

    help = "Make the user `staff` for the admin with a random password, and print it; does nothing if there is one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the port of the site, for the address that is printed."""
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, port: int, **options: Any) -> None:  # what Django passes to every command
        """Make the user if there is none of that name."""
        users = get_user_model().objects
        if users.filter(username=USERNAME).exists():
            self.stdout.write(f"The user {USERNAME} exists; a new password: manage.py changepassword {USERNAME}")
            return
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        users.create_superuser(USERNAME, password=password)
        self.stdout.write(f"Admin at http://127.0.0.1:{port}/admin/ for {USERNAME}, password {password}")
