"""How a lock of this process is taken and given back: one interface for threads and tasks, over four operations."""

from abc import ABC, abstractmethod

from locking import durations
from locking.durations import Duration
from locking.exceptions import LockTimeout
from locking.local.waiters import TaskWaiter, ThreadWaiter, Waiter


class LocalLock(ABC):
    """A lock that threads and tasks of this process take, wait for in one line, and release."""

    __slots__ = ()

    def acquire(self, *, timeout: Duration) -> None:
        """Take the lock, blocking the thread for `timeout` at most; raise LockTimeout when that has passed."""
        seconds = durations.timeout(timeout)
        if not self._take():
            self._wait(seconds)

    def try_acquire(self) -> bool:
        """Take the lock if it is free and nobody waits for it; tell whether it was. Never wait."""
        return self._take()

    def release(self) -> None:
        """Give the lock to the first in line, from any thread or task; raise LockUsageError if nobody holds it."""
        self._leave()

    async def aacquire(self, *, timeout: Duration) -> None:
        """Take the lock, blocking the task for `timeout` at most; raise LockTimeout when that has passed."""
        seconds = durations.timeout(timeout)
        if not self._take():
            await self._await(seconds)

    async def atry_acquire(self) -> bool:
        """Do as `try_acquire`."""
        return self._take()

    def __enter__(self) -> None:
        """Take the lock, however long it takes."""
        if not self._take():
            self._wait(None)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Give the lock to the first in line."""
        self._leave()

    async def __aenter__(self) -> None:
        """Take the lock, however long it takes; the loop runs on."""
        if not self._take():
            await self._await(None)

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        """Give the lock to the first in line."""
        self.__exit__(kind, error, trace)

    @abstractmethod
    def _take(self) -> bool:
        """Take the lock if it is free and nobody waits for it."""

    @abstractmethod
    def _enlist(self, waiter: Waiter) -> None:
        """Grant the lock to the waiter if it is free and nobody waits, or put the waiter at the end of the line."""

    @abstractmethod
    def _withdraw(self, waiter: Waiter) -> bool:
        """Take the waiter out of the line, unless the lock was granted to it; tell whether it was."""

    @abstractmethod
    def _leave(self) -> None:
        """Grant the lock to the first in line that can be told; raise LockUsageError if nobody holds it."""

    def _wait(self, seconds: float | None) -> None:
        waiter = ThreadWaiter()
        try:
            self._enlist(waiter)
            waiter.sleep(seconds)
            self._conclude(waiter, seconds)
        except BaseException:
            self._give_up(waiter)
            raise

    async def _await(self, seconds: float | None) -> None:
        waiter = TaskWaiter()
        try:
            self._enlist(waiter)
            await waiter.sleep(seconds)
            self._conclude(waiter, seconds)
        except BaseException:
            self._give_up(waiter)
            raise

    def _give_up(self, waiter: Waiter) -> None:
        # The grant and the end of the wait may cross; then the lock is held by nobody who would ever release it.
        if self._withdraw(waiter):
            self._leave()

    def _conclude(self, waiter: Waiter, seconds: float | None) -> None:
        if not self._withdraw(waiter):
            raise LockTimeout(f"somebody else held {self!r} for all of {seconds} s")
