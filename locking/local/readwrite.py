"""Many readers or one writer, first come, first served: a waiting writer holds back the readers that come after it."""

import threading

from locking import forks
from locking.exceptions import LockUsageError
from locking.local.taking import LocalLock
from locking.local.waiters import Line, Waiter


def rwlock() -> "RWLock":
    """Return a new lock for readers and writers."""
    return RWLock()


class RWLock:
    """Two locks, of which `read()` may be held by many at once and `write()` by one alone.

    What always holds: no writer, or one writer and no reader; and the first in line is one that cannot be let in.
    """

    __slots__ = ("__weakref__", "_guard", "_line", "_read", "_readers", "_write", "_writing")

    def __init__(self) -> None:
        self._read = Side(self, exclusive=False)
        self._write = Side(self, exclusive=True)
        self.begin_anew()
        forks.begin_anew(self)

    def read(self) -> "Side":
        """Return the lock that readers share."""
        return self._read

    def write(self) -> "Side":
        """Return the lock of the one writer."""
        return self._write

    def begin_anew(self) -> None:
        """Forget all holders and waiters."""
        # Reentrant: the garbage collector may end a waiting task at any moment, also one in which its thread has it.
        self._guard = threading.RLock()
        self._line: Line = []
        self._readers = 0
        self._writing = False

    def take(self, *, exclusive: bool) -> bool:
        """Let one in if there is room and nobody waits."""
        with self._guard:
            if self._line or not self._has_room(exclusive=exclusive):
                return False
            self._let_in(exclusive=exclusive)
            return True

    def enlist(self, waiter: Waiter) -> None:
        """Let the waiter in if there is room and nobody waits, or put it at the end of the line."""
        with self._guard:
            waiter.granted = self.take(exclusive=waiter.exclusive)
            if not waiter.granted:
                waiter.line = self._line
                self._line.append(waiter)

    def withdraw(self, waiter: Waiter) -> bool:
        """Take the waiter out of the line, unless it was let in; tell whether it was."""
        with self._guard:
            granted = waiter.withdraw()
            self._let_in_first()  # It may have been a writer that held back readers.
            return granted

    def leave(self, *, exclusive: bool) -> None:
        """Let one out, and in whoever there is room for then; raise LockUsageError if no such one is in."""
        with self._guard:
            if not self._holds(exclusive=exclusive):
                raise LockUsageError(f"{self._side(exclusive=exclusive)!r} is not held, and cannot be released")
            self._let_out(exclusive=exclusive)
            self._let_in_first()

    def _has_room(self, *, exclusive: bool) -> bool:
        return not self._writing and not (exclusive and self._readers)

    def _holds(self, *, exclusive: bool) -> bool:
        return self._writing if exclusive else self._readers > 0

    def _side(self, *, exclusive: bool) -> "Side":
        return self._write if exclusive else self._read

    def _let_in(self, *, exclusive: bool) -> None:
        if exclusive:
            self._writing = True
        else:
            self._readers += 1

    def _let_out(self, *, exclusive: bool) -> None:
        if exclusive:
            self._writing = False
        else:
            self._readers -= 1

    def _let_in_first(self) -> None:
        while self._line and self._has_room(exclusive=self._line[0].exclusive):
            waiter = self._line.pop(0)
            self._let_in(exclusive=waiter.exclusive)
            if not waiter.grant():
                self._let_out(exclusive=waiter.exclusive)


class Side(LocalLock):
    """The reading or the writing side of a lock."""

    __slots__ = ("_exclusive", "_rwlock")

    def __init__(self, rwlock: RWLock, *, exclusive: bool) -> None:
        self._rwlock = rwlock
        self._exclusive = exclusive

    def __repr__(self) -> str:
        return "local write lock" if self._exclusive else "local read lock"

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Let the first in line in."""
        try:
            self._leave()
        except LockUsageError:
            if not forks.in_child():
                raise

    def _take(self) -> bool:
        return self._rwlock.take(exclusive=self._exclusive)

    def _enlist(self, waiter: Waiter) -> None:
        waiter.exclusive = self._exclusive
        self._rwlock.enlist(waiter)

    def _withdraw(self, waiter: Waiter) -> bool:
        return self._rwlock.withdraw(waiter)

    def _leave(self) -> None:
        self._rwlock.leave(exclusive=self._exclusive)
