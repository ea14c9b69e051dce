"""The log: one line per event."""

import logging
from collections.abc import Iterator
from io import StringIO

import pytest
from django.conf import settings
from django.test import Client

from config.log import OneLine, RequestIdFilter, StackOnly
from config.request_id import request_id

shop = logging.getLogger("shop")


@pytest.fixture
def written() -> Iterator[StringIO]:
    """Write what the logger `shop` is told into a text, in the form of the settings."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    formatters: dict[str, dict[str, str]] = settings.LOGGING["formatters"]  # type: ignore[assignment]  # a nested dict
    handler.setFormatter(OneLine(formatters["line"]["format"]))
    handler.addFilter(RequestIdFilter())
    shop.addHandler(handler)
    yield stream
    shop.removeHandler(handler)


def test_a_line_has_the_id_of_its_request(written: StringIO) -> None:
    """So that all that happened to a request can be found."""
    token = request_id.set("abc-123")
    shop.warning("in a request")
    request_id.reset(token)
    shop.warning("outside")

    first, second = written.getvalue().splitlines()
    assert first.endswith("WARNING shop abc-123 in a request")
    assert second.endswith("WARNING shop - outside")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\x0b", "\x85", "\u2028", "\x1b[2J", "\x00"])
def test_nobody_writes_a_second_line(written: StringIO, end: str) -> None:
    """A path with a line end in it must not look like an event of its own."""
    shop.error("GET %s failed", f"/x{end}2030-01-01 CRITICAL forged")

    assert len(written.getvalue().splitlines()) == 1
    assert end not in written.getvalue().rstrip("\n")


def test_a_traceback_is_on_the_line_of_its_event(written: StringIO) -> None:
    """An event is a line, for whatever reads the log."""
    shop.error("failed", exc_info=ZeroDivisionError("by nobody"))

    [line] = written.getvalue().splitlines()
    assert line.endswith("failed\\nZeroDivisionError: by nobody")


def test_an_answer_that_was_logged_by_its_maker_is_not_logged_again() -> None:
    """Django has a line of its own for each 5xx; what it knows more is the stack."""
    plain = logging.LogRecord("django.request", logging.ERROR, "", 1, "Service Unavailable", None, None)
    stack = logging.LogRecord("django.request", logging.ERROR, "", 1, "failed", None, (ValueError, ValueError(), None))

    assert not StackOnly().filter(plain)
    assert StackOnly().filter(stack)


def test_callers_cannot_fill_the_log(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """A wrong path, a wrong method, a wrong host and a bad token are answered, and no news."""
    client.get("/nowhere")
    client.post("/livez")
    client.get("/livez", headers={"Host": "evil.example"})
    client.get("/api/v1/orders/", headers={"Authorization": "Bearer nonsense"})

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
