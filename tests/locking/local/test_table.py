"""The moments between two steps of the table, each brought about on purpose."""

from collections.abc import Callable

import pytest

from locking.exceptions import LockUsageError
from locking.local.keys import KeyedLock
from locking.local.table import Key, Table
from locking.local.waiters import Line, ThreadWaiter


class Watched(dict[Key, Line]):
    """The lines of a table, with something that happens once, after the next call of one method."""

    def __init__(self, method: str, happen: Callable[[], object]) -> None:
        super().__init__()
        self.method = method
        self.happen: Callable[[], object] | None = happen

    def setdefault(self, key: Key, line: Line) -> Line:
        """Take the key."""
        found = super().setdefault(key, line)
        self._after("setdefault")
        return found

    def pop(self, key: Key) -> Line:  # type: ignore[override]
        """Give the key back."""
        line = super().pop(key)
        self._after("pop")
        return line

    def _after(self, method: str) -> None:
        if method == self.method and self.happen is not None:
            happen, self.happen = self.happen, None
            happen()


def watch(table: Table, method: str, happen: Callable[[], object]) -> None:
    """Let something happen once, after the next call of `method`."""
    lines = Watched(method, happen)
    lines.update(table.lines)
    table.lines = lines


def line_up(table: Table, count: int) -> list[ThreadWaiter]:
    """Take the key, and let so many wait for it."""
    assert table.take("a")
    waiters = [ThreadWaiter() for _ in range(count)]
    for waiter in waiters:
        table.enlist("a", waiter)
    return waiters


def test_a_waiter_that_joins_while_the_holder_leaves_gets_the_lock() -> None:
    """The holder leaves after the waiter has found it, and before it stands in its line."""
    table = Table()
    waiter = ThreadWaiter()
    table.take("a")
    watch(table, "setdefault", lambda: table.leave("a"))

    table.enlist("a", waiter)

    assert waiter.granted
    table.leave("a")
    assert table.lines == {}


def test_a_waiter_that_does_not_look_again_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: it stands in a line that has left the table, and nobody holds the key."""
    table = Table()
    waiter = ThreadWaiter()
    table.take("a")
    join = Table._join
    monkeypatch.setattr(Table, "_join", lambda table, key, waiter: join(table, key, waiter) or True)
    watch(table, "setdefault", lambda: table.leave("a"))

    table.enlist("a", waiter)

    assert not waiter.granted
    assert table.lines == {}


def test_a_waiter_that_joins_after_the_holder_left_is_seen() -> None:
    """The waiter appends itself after the line has left the table, and before the holder looks into it."""
    table = Table()
    waiter = ThreadWaiter()
    table.take("a")
    watch(table, "pop", lambda: table.enlist("a", waiter))

    table.leave("a")

    assert waiter.granted


def test_who_takes_the_key_in_the_middle_has_the_line_behind_it() -> None:
    """A thread that takes the key between the release and the grant holds it; those who waited come next, in order."""
    table = Table()
    first, second = line_up(table, 2)
    later = ThreadWaiter()

    def take_and_wait() -> None:
        assert table.take("a")
        table.enlist("a", later)

    watch(table, "pop", take_and_wait)
    table.leave("a")

    assert not first.granted
    assert table.lines == {"a": [first, second, later]}
    table.leave("a")
    assert first.granted


def test_who_takes_and_leaves_in_the_middle_loses_nobody() -> None:
    """The thread that took the key in the middle leaves before the line is put behind it."""
    table = Table()
    first, second = line_up(table, 2)

    def take() -> None:
        assert table.take("a")
        lines = table.lines
        assert isinstance(lines, Watched)
        lines.method, lines.happen = "setdefault", lambda: table.leave("a")

    watch(table, "pop", take)
    table.leave("a")

    assert first.granted
    assert table.lines == {"a": [second]}


def test_a_waiter_that_withdrew_is_passed_over() -> None:
    """Who has withdrawn while its line was being moved is not granted the lock, wherever it still stands."""
    table = Table()
    first, second = line_up(table, 2)
    first.withdrawn = True

    table.leave("a")

    assert (first.granted, second.granted) == (False, True)


def test_a_signal_just_after_the_taking_leaves_the_key_free() -> None:
    """An exception between the taking and the block gives the key back, and to the first in line."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    table = Table()
    watch(table, "setdefault", interrupt)

    with pytest.raises(KeyboardInterrupt), KeyedLock(table, "a"):
        pass

    assert table.lines == {}


def test_a_withdrawal_after_the_grant_tells_so() -> None:
    """Who is granted the lock and ends its wait at the same moment learns that it holds it."""
    table = Table()
    (waiter,) = line_up(table, 1)
    table.leave("a")

    assert table.withdraw(waiter)


def test_a_key_that_nobody_holds_cannot_be_left() -> None:
    """Leaving a free key is a usage error."""
    with pytest.raises(LockUsageError):
        Table().leave("a")
