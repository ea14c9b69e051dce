"""A fixed number of locks for any number of keys."""

from locking.exceptions import LockUsageError
from locking.local.keys import KeyedLock
from locking.local.table import Table

#: More stripes than this are a map of keys, which `keyed` is, without collisions.
STRIPES_MAX = 65_536


def striped(count: int) -> "Stripes":
    """Return `count` locks, 1 to 65,536, that share out all keys among them."""
    return Stripes(count)


class Stripes:
    """Locks that are chosen by the hash of a key: the same key has the same lock, and so may another key.

    So whoever holds one key and takes another may meet itself, and wait for ever: take one stripe at a time.
    """

    __slots__ = ("_locks",)

    def __init__(self, count: int) -> None:
        if type(count) is not int or not 1 <= count <= STRIPES_MAX:
            raise LockUsageError(f"the number of stripes is between 1 and {STRIPES_MAX}, not {count!r}")
        table = Table()
        self._locks = tuple(KeyedLock(table, index) for index in range(count))

    def __len__(self) -> int:
        return len(self._locks)

    def lock(self, key: str) -> KeyedLock:
        """Return the lock of the key's stripe."""
        return self._locks[hash(key) % len(self._locks)]
