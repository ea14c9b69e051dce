"""Who calls."""

import pytest

from access.caller import Caller, is_buyer


@pytest.mark.parametrize("name", ["user001", "a", "x" * 128, "Ünï 日本", "🦊", "a b"])
def test_a_buyer_is_1_to_128_printable_characters(name: str) -> None:
    """Any system's user ids fit."""
    assert is_buyer(name)


@pytest.mark.parametrize(
    "name", ["", "x" * 129, "a\x00b", "a\nb", "\u202euser", "a\u200bb", "\ud800", None, 7, [], True]
)
def test_what_is_not_printable_is_no_buyer(name: object) -> None:
    """I11: NUL, control and format characters, lone surrogates, and what is no text."""
    assert not is_buyer(name)


def test_a_caller_may_what_his_scopes_say() -> None:
    """A scope is compared whole."""
    caller = Caller("user001", frozenset({"stock:write"}))

    assert caller.may("stock:write")
    assert not caller.may("stock")
