"""Make a member of staff for the admin, once."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError, transaction
from django.db.models import Q

USERNAME = "staff"
GROUP = "Shop staff"
PASSWORD_BYTES = 12
#: What the shop's staff may do, and nothing else: they keep products and move stock; they read the rest.
PERMISSIONS = {
    "inventory": [
        "view_product",
        "add_product",
        "change_product",
        "view_stock",
        "change_stock",
        "view_stockmovement",
    ],
    "orders": ["view_order", "view_orderline", "view_buyertally"],
}


class Command(BaseCommand):
    """Make a member of staff with a random password, and print it once."""

    help = (
        f"Make the user {USERNAME} in the group {GROUP!r} with a random password, and print it once. Where the user "
        "exists, nothing is changed. Users and groups themselves are kept by a superuser (createsuperuser)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take who it is, and the port of the site for the address that is printed."""
        parser.add_argument("--username", default=USERNAME, help=f"of a further member of staff; default: {USERNAME}")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, username: str, port: int, **options: Any) -> None:  # what Django passes to every command
        """Make the user if there is none of that name."""
        try:
            User(username=username).clean_fields(exclude=["password"])
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        address = f"http://127.0.0.1:{port}/admin/"
        if _make(username, password):
            self.stdout.write(f"Admin at {address} for {username}, password {password}")
        else:
            reset = f"manage.py changepassword {username}"
            self.stdout.write(f"Admin at {address}; the user {username} exists, a new password: {reset}")


def _make(username: str, password: str) -> bool:
    """Make the user in the group; False where there is one of that name, also one that was made at this moment."""
    if User.objects.filter(username=username).exists():
        return False
    try:
        with transaction.atomic(durable=True):
            user = User.objects.create_user(username, password=password, is_staff=True)
            user.groups.add(_group())
    except IntegrityError:
        return False
    return True


def _group() -> Group:
    """Find the group, or make it with its permissions; one that exists stays as its superuser has set it."""
    group, is_new = Group.objects.get_or_create(name=GROUP)
    if is_new:
        wanted = Q(pk__in=[])
        for app, names in PERMISSIONS.items():
            wanted |= Q(content_type__app_label=app, codename__in=names)
        group.permissions.set(Permission.objects.filter(wanted))
    return group
