"""Who stands in a line: a thread that sleeps, or a task whose event loop runs on."""

import asyncio
import threading
from abc import ABC, abstractmethod


class Waiter(ABC):
    """One that waits for one lock, once: it stands in `line`, and then is granted the lock or withdraws.

    All of it happens under the guard of the lock.
    """

    __slots__ = ("exclusive", "granted", "line", "withdrawn")

    def __init__(self) -> None:
        self.exclusive = True  # False: a reader.
        self.granted = False
        self.withdrawn = False
        self.line: Line | None = None

    def grant(self) -> bool:
        """Tell the waiter, which has left its line, that the lock is its own; tell whether it can be told."""
        if self.withdrawn:
            return False  # The garbage collector ended it while the guard was in the hands of this same thread.
        self.line = None
        self.granted = True
        if not self._wake():
            # What is left of a task whose loop is closed ends some day, and must not release what another holds then.
            self.granted = False
            self.withdrawn = True
        return self.granted

    def withdraw(self) -> bool:
        """Leave the line for good, unless the lock was granted; tell whether it was."""
        if not self.granted:
            self.withdrawn = True
            self.leave_line()
        return self.granted

    def leave_line(self) -> None:
        """Stand in no line."""
        line, self.line = self.line, None
        if line is not None and self in line:
            line.remove(self)

    @abstractmethod
    def _wake(self) -> bool: ...


Line = list[Waiter]


class ThreadWaiter(Waiter):
    """A thread that sleeps until it is granted the lock."""

    __slots__ = ("_bell",)

    def __init__(self) -> None:
        super().__init__()
        self._bell = threading.Lock()
        self._bell.acquire()

    def sleep(self, seconds: float | None) -> None:
        """Return when the lock is granted or the seconds have passed; None sets no limit."""
        if not self.granted:
            self._bell.acquire(timeout=-1 if seconds is None else seconds)

    def _wake(self) -> bool:
        self._bell.release()
        return True


class TaskWaiter(Waiter):
    """A task that awaits a future of its own loop until it is granted the lock."""

    __slots__ = ("_loop", "_woken")

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._woken: asyncio.Future[None] = self._loop.create_future()

    async def sleep(self, seconds: float | None) -> None:
        """Return when the lock is granted or the seconds have passed; None sets no limit."""
        if self.granted:
            return
        if seconds is None:
            await self._woken
            return
        alarm = self._loop.call_later(seconds, self._settle)
        try:
            await self._woken
        finally:
            alarm.cancel()

    def _wake(self) -> bool:
        try:
            # The releaser is any thread, and a future may be touched by the thread of its loop alone.
            self._loop.call_soon_threadsafe(self._settle)
        except RuntimeError:
            return False  # The loop is closed: nobody is left to hold the lock.
        return True

    def _settle(self) -> None:
        if not self._woken.done():
            self._woken.set_result(None)
