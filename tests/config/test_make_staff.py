"""The member of staff that `make run` makes: once, with a password printed once, and no more rights than needed."""

import re
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from threading import Barrier

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_SECONDS = 20


def make_staff(**options: str | int) -> str:
    """Run the command, and give what it printed."""
    printed = StringIO()
    call_command("make_staff", stdout=printed, **options)
    return printed.getvalue()


def test_the_printed_password_opens_the_admin() -> None:
    """The line says where, who, and with what."""
    line = make_staff(port=8123)

    match = re.fullmatch(r"Admin at (\S+) for (\S+), password (\S+)\n", line)
    assert match is not None
    assert match.groups()[:2] == ("http://127.0.0.1:8123/admin/", "staff")
    client = Client()
    client.post("/admin/login/", {"username": match[2], "password": match[3]})
    assert client.get("/admin/").status_code == 200


def test_a_second_run_changes_nothing_and_says_how_to_reset() -> None:
    """The password stays, and is not printed again."""
    make_staff()
    password = User.objects.get().password

    line = make_staff()

    assert "the user staff exists, a new password: manage.py changepassword staff" in line
    assert User.objects.get().password == password


def test_two_runs_at_the_same_moment_make_one_user() -> None:
    """One prints a password, the other that the user exists."""
    barrier = Barrier(2, timeout=WAIT_SECONDS)

    def run() -> str:
        barrier.wait()
        try:
            return make_staff()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(run) for _ in range(2)]
        lines = [run.result(WAIT_SECONDS) for run in runs]

    assert sorted("password " in line and "exists" not in line for line in lines) == [False, True]
    assert User.objects.count() == Group.objects.count() == 1


def test_staff_may_do_what_a_sale_needs_and_nothing_else() -> None:
    """They keep products, move stock and read the rest; users and groups are a superuser's."""
    make_staff()
    user = User.objects.get()

    assert not user.is_superuser
    assert user.get_all_permissions() == {
        "inventory.view_product",
        "inventory.add_product",
        "inventory.change_product",
        "inventory.view_stock",
        "inventory.change_stock",
        "inventory.view_stockmovement",
        "orders.view_order",
        "orders.view_orderline",
        "orders.view_buyertally",
    }
    client = Client()
    client.force_login(user)
    assert client.get("/admin/auth/user/").status_code == 403


def test_further_staff_share_the_group() -> None:
    """What a superuser has taken from the group stays taken."""
    make_staff()
    Group.objects.get().permissions.clear()

    make_staff(username="ann")

    assert User.objects.get(username="ann").is_staff
    assert not User.objects.get(username="ann").get_all_permissions()


@pytest.mark.parametrize("name", ["", "a b", "x" * 151, "a\0b"])
def test_a_name_that_can_be_no_user_is_refused_in_one_line(name: str) -> None:
    """No traceback, no user."""
    with pytest.raises(CommandError):
        make_staff(username=name)

    assert not User.objects.exists()
