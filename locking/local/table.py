"""Which keys are held, and who waits for each.

A key that stands in the table is held, and its value is the line of its waiters; a key that nobody holds is not there.
So an unused lock takes no memory, there is no object whose death must be noticed, and taking a free key is one
`dict.setdefault`, giving it back one `dict.pop`, both atomic. A weak map of `threading.Lock` was rejected: `with` keeps
only the bound `__exit__` alive, so the entry died while its lock was held, and a C release can wake no task.

The guard is taken by those who wait and by those who hand over, never on the way through a free lock. What remains is
that a waiter joins a line while the holder leaves without the guard, and each looks after it has acted:

    the waiter appends itself to the line, then looks whether the line is still in the table;
    the holder takes the line out of the table, then looks whether somebody is in it.

In every order at least one sees the other. If both do, the guard decides who is first, and the second finds it done.
"""

import threading

from locking import forks
from locking.exceptions import LockUsageError
from locking.local.waiters import Line, Waiter

Key = str | int


class Table:
    """The held keys, each with its line."""

    __slots__ = ("__weakref__", "_guard", "lines")

    def __init__(self) -> None:
        self.lines: dict[Key, Line] = {}
        # Reentrant: the garbage collector may end a waiting task at any moment, also one in which its thread has it.
        self._guard = threading.RLock()
        forks.begin_anew(self)

    def take(self, key: Key) -> bool:
        """Take the key if it is free."""
        line: Line = []
        return self.lines.setdefault(key, line) is line

    def take_back(self, key: Key, line: Line) -> None:
        """Leave the key if `line` holds it: a signal handler raised just after it was taken."""
        if self.lines.get(key) is line:
            self.leave(key)

    def enlist(self, key: Key, waiter: Waiter) -> None:
        """Grant the key to the waiter if it is free, or put the waiter at the end of the key's line."""
        with self._guard:
            while not self._join(key, waiter):
                pass  # The holder left in the middle; the key is free, or has a new holder, whose line is to be joined.

    def withdraw(self, waiter: Waiter) -> bool:
        """Take the waiter out of its line, unless the key was granted to it; tell whether it was."""
        with self._guard:
            return waiter.withdraw()

    def leave(self, key: Key) -> None:
        """Grant the key to the first in line that can be told; raise LockUsageError if nobody holds it."""
        try:
            line = self.lines.pop(key)
        except KeyError:
            raise LockUsageError(f"{key!r} is not held, and cannot be released") from None
        if line:
            self.hand_over(key, line)

    def hand_over(self, key: Key, line: Line) -> None:
        """Grant the key, which has left the table with this line, to the first in line that can be told."""
        with self._guard:
            while line:
                current = self.lines.setdefault(key, line)
                if current is line:
                    return self._grant_first(key, line)
                if self._put_before(key, line, current):
                    return None
        return None

    def begin_anew(self) -> None:
        """Forget all holders and waiters."""
        self._guard = threading.RLock()
        self.lines.clear()

    def _join(self, key: Key, waiter: Waiter) -> bool:
        line: Line = []
        current = self.lines.setdefault(key, line)
        if current is line:
            waiter.granted = True
            return True
        waiter.line = current
        current.append(waiter)
        if self.lines.get(key) is current or waiter.granted:
            return True
        waiter.leave_line()
        return False

    def _grant_first(self, key: Key, line: Line) -> None:
        while line:
            if line.pop(0).grant():
                return
        self.leave(key)

    def _put_before(self, key: Key, line: Line, current: Line) -> bool:
        """Put the line in front of that of a thread which took the key in the middle; tell whether it still has it."""
        for place, waiter in enumerate(line):
            waiter.line = current
            current.insert(place, waiter)
        if self.lines.get(key) is current:
            return True
        for waiter in line:
            waiter.leave_line()
            waiter.line = line
        return False
