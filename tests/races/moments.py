"""Stop a thread at a chosen moment, and know when another waits for it: races without luck."""

import itertools
import threading
from pkgutil import resolve_name
from typing import Any

import pytest
from django.db import connection

from config.embedded.server import wait_until

#: Reached by a test that fails, and by no other: long enough for a machine that is busy with other things.
SECONDS_MAX = 30.0


class Stop:
    """A place in the code where one thread waits until it is let go: the first that comes by, or a later one."""

    def __init__(self, turn: int) -> None:
        """Begin with nobody there."""
        self._turn = turn
        self._turns = itertools.count(1)
        self._reached = threading.Event()
        self._let_go = threading.Event()

    def hold(self) -> None:
        """Hold the thread whose turn it is; the others pass."""
        if next(self._turns) == self._turn:
            self._reached.set()
            assert self._let_go.wait(SECONDS_MAX), "nobody let the thread go"

    def wait_until_reached(self) -> None:
        """Wait until a thread stands here."""
        assert self._reached.wait(SECONDS_MAX), "no thread came by"

    def let_go(self) -> None:
        """Let the thread go on."""
        self._let_go.set()


def stop_before(patch: pytest.MonkeyPatch, name: str, *, turn: int = 1) -> Stop:
    """Make a stop in front of a function, which is named with its module."""
    stop, function = Stop(turn), resolve_name(name)

    def hold_and_call(*args: Any, **options: Any) -> Any:  # whatever the function takes and gives
        stop.hold()
        return function(*args, **options)

    patch.setattr(name, hold_and_call)
    return stop


def stop_after(patch: pytest.MonkeyPatch, name: str, *, turn: int = 1) -> Stop:
    """Make a stop behind a function, before its result is given."""
    stop, function = Stop(turn), resolve_name(name)

    def call_and_hold(*args: Any, **options: Any) -> Any:  # whatever the function takes and gives
        result = function(*args, **options)
        stop.hold()
        return result

    patch.setattr(name, call_and_hold)
    return stop


def wait_until_blocked(*, sessions: int = 1) -> None:
    """Wait until this many sessions of the database wait for a lock of another."""
    assert wait_until(lambda: _blocked() >= sessions, seconds=SECONDS_MAX), "nobody waits for a lock"


def _blocked() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # A transaction sees one snapshot of them otherwise.
        cursor.execute(BLOCKED_SQL)
        return int(cursor.fetchone()[0])


BLOCKED_SQL = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0
"""
