"""`manage.py issue_token`."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from access import keys, tokens
from access.caller import Caller
from tests.access import signing


def _printed(*arguments: str, **options: Any) -> str:  # options of the command
    out = StringIO()
    call_command("issue_token", *arguments, stdout=out, **options)
    return out.getvalue()


def test_it_prints_one_token_and_nothing_else() -> None:
    """So that a shell can take it: TOKEN=$(manage.py issue_token user001)."""
    printed = _printed("user001", scope="stock:write orders:any-buyer")

    assert printed.count("\n") == 1
    assert tokens.verify(printed.strip()) == Caller("user001", frozenset({"stock:write", "orders:any-buyer"}))


@pytest.mark.parametrize("hours", [0, -1, float("nan"), float("inf"), 10_000])
def test_a_token_is_good_for_some_hours(hours: float) -> None:
    """More than none, and no more than a year."""
    with pytest.raises(CommandError, match="--hours"):
        _printed("user001", hours=hours)


@pytest.mark.parametrize("subject", ["", "x" * 129, "a\u202eb"])
def test_a_subject_is_a_buyer(subject: str) -> None:
    """One line says what a subject is."""
    with pytest.raises(CommandError, match="1 to 128 printable characters"):
        _printed(subject)


def test_with_a_public_key_there_is_nothing_to_sign_with(settings: Settings) -> None:
    """One line says where tokens come from."""
    settings.JWT_SECRET, settings.JWT_KEYS = "", keys.public(signing.pem(signing.ec_key()))

    with pytest.raises(CommandError, match="identity provider"):
        _printed("user001")
