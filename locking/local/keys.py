"""One lock per key, which exists only while it is held or waited for."""

from locking import forks
from locking.exceptions import LockUsageError
from locking.local.table import Key, Table
from locking.local.taking import LocalLock
from locking.local.waiters import Line, Waiter


def keyed(key: str) -> "KeyedLock":
    """Return the lock of the key. All who name the key in this process, threads and tasks, exclude each other."""
    if not isinstance(key, str):
        raise LockUsageError(f"the key of a local lock is text, not {type(key).__name__}")
    return KeyedLock(_table, key)


def in_use() -> int:
    """Return how many keys are held at this moment."""
    return len(_table.lines)


class KeyedLock(LocalLock):
    """A description of a lock: a table and a key. Two of the same key are the same lock."""

    __slots__ = ("_key", "_lines", "_table")

    def __init__(self, table: Table, key: Key) -> None:
        self._table = table
        self._lines = table.lines
        self._key = key

    def __repr__(self) -> str:
        return f"local lock {self._key!r}"

    # The two methods below repeat Table.take and Table.leave, for they are all that an uncontended `with` costs: called
    # instead, they would make it a third slower.

    def __enter__(self) -> None:
        """Take the lock, however long it takes."""
        line: Line = []
        try:
            if self._lines.setdefault(self._key, line) is line:
                return
        except BaseException:
            self._table.take_back(self._key, line)
            raise
        self._wait(None)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Give the lock to the first in line."""
        try:
            line = self._lines.pop(self._key)
        except KeyError:
            if forks.in_child():
                return
            raise LockUsageError(f"{self!r} was released inside its own block") from None
        if line:
            self._table.hand_over(self._key, line)

    def _take(self) -> bool:
        return self._table.take(self._key)

    def _enlist(self, waiter: Waiter) -> None:
        self._table.enlist(self._key, waiter)

    def _withdraw(self, waiter: Waiter) -> bool:
        return self._table.withdraw(waiter)

    def _leave(self) -> None:
        self._table.leave(self._key)


_table = Table()
