"""Several locks at once: in one order, so that no two callers wait for each other; all of them, or none."""

from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from types import TracebackType

from locking import backends, clock, names
from locking.describing import lock
from locking.durations import Duration
from locking.exceptions import LockUsageError
from locking.lease import Lease
from locking.locks import Lock

NAMES_MAX = 100


class MultiLock:
    """The locks of several names, taken in sorted order before one deadline. For one block at a time."""

    def __init__(self, locks: Sequence[Lock], *, timeout_seconds: float) -> None:
        """Describe them, sorted."""
        self._locks = locks
        self._timeout_seconds = timeout_seconds
        self._held: list[ExitStack | AsyncExitStack] = []

    def __enter__(self) -> list[Lease]:
        """Take all, and return their leases in the order of their sorted names; or raise, and hold none."""
        deadline = clock.now() + self._timeout_seconds
        with ExitStack() as stack:
            leases = [stack.enter_context(self._within(one, deadline)) for one in self._locks]
            self._held.append(stack.pop_all())
        return leases

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release all."""
        stack = self._held.pop()
        assert isinstance(stack, ExitStack)
        stack.__exit__(kind, error, traceback)

    async def __aenter__(self) -> list[Lease]:
        """Take all, as `with` does."""
        deadline = clock.now() + self._timeout_seconds
        async with AsyncExitStack() as stack:
            leases = [await stack.enter_async_context(self._within(one, deadline)) for one in self._locks]
            self._held.append(stack.pop_all())
        return leases

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release all."""
        stack = self._held.pop()
        assert isinstance(stack, AsyncExitStack)
        await stack.__aexit__(kind, error, traceback)

    @staticmethod
    def _within(one: Lock, deadline: float) -> Lock:
        return replace(one, timeout_seconds=max(0.0, deadline - clock.now()), _entered={})


def multilock(
    *lock_names: str,
    ttl: Duration | None = None,
    timeout: Duration | None = None,
    backend: str = backends.DEFAULT,
    renew: bool = True,
) -> MultiLock:
    """Describe the locks of all names, each taken once. `timeout` is the wait for all together."""
    unique = sorted({names.check(name) for name in lock_names})
    if not 1 <= len(unique) <= NAMES_MAX:
        raise LockUsageError(f"a multilock has 1 to {NAMES_MAX} names, not {len(unique)}")
    locks = [lock(name, ttl=ttl, timeout=timeout, backend=backend, renew=renew) for name in unique]
    return MultiLock(locks, timeout_seconds=locks[0].timeout_seconds)
