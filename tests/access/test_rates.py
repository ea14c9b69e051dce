"""Rates."""

import pytest

from access.rates import Rate, parse


def test_a_rate_is_calls_in_seconds() -> None:
    """As the settings write it; nothing is no limit."""
    assert parse("100/10s") == Rate(calls=100, seconds=10)
    assert parse("") is None


@pytest.mark.parametrize(
    "text",
    ["100", "100/s", "100/10", "100/10m", "-1/10s", "1.5/1s", " 1/1s", "1/1s\n", "0/1s", "1/0s", "٣/1s", "999999/1s"],
)
def test_what_is_no_rate_is_refused(text: str) -> None:
    """A typing error must not become a limit, or none."""
    with pytest.raises(ValueError, match="a rate"):
        parse(text)
