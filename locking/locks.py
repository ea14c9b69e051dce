"""Locks as callers describe them: cheap, stateless, reusable. Taking one gives a Lease."""

import functools
import inspect
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal, TypeVar, cast

from locking import acquiring, claims, contexts, durations, names, releasing
from locking.acquiring import Grant
from locking.backends.base import Backend
from locking.claims import Claim, Kind
from locking.durations import Duration
from locking.exceptions import LockLost, LockTimeout, LockUsageError
from locking.lease import Lease
from locking.renewal import watchdog

Release = Literal["now", "on_commit"]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Lock:
    """A description of a lock: a context manager, also for `async with`, and a decorator."""

    name: str
    kind: Kind
    exclusive: bool
    limit: int
    ttl_seconds: float
    timeout_seconds: float
    backend: Backend
    renew: bool
    release: Release
    using: str | None
    skip: bool
    _entered: dict[contexts.Context, Lease] = field(default_factory=dict, compare=False, repr=False)

    def acquire(self, *, timeout: Duration | None = None) -> Lease:
        """Return a lease; raise LockTimeout if others held the lock for all of `timeout` seconds."""
        claim, place = self._claim()
        grant = acquiring.acquire(self.backend, claim, wait_seconds=self._wait_seconds(timeout))
        return self._lease(claim, grant, place)

    async def aacquire(self, *, timeout: Duration | None = None) -> Lease:
        """Return a lease, as `acquire` does; the event loop goes on meanwhile."""
        claim, place = self._claim()
        grant = await acquiring.aacquire(self.backend, claim, wait_seconds=self._wait_seconds(timeout))
        return self._lease(claim, grant, place)

    def try_acquire(self, *, timeout: Duration = 0) -> Lease | None:
        """Return a lease, or None if others hold the lock; by default without waiting."""
        try:
            return self.acquire(timeout=timeout)
        except LockTimeout:
            return None

    async def atry_acquire(self, *, timeout: Duration = 0) -> Lease | None:
        """Return a lease, or None, as `try_acquire` does."""
        try:
            return await self.aacquire(timeout=timeout)
        except LockTimeout:
            return None

    def __enter__(self) -> Lease:
        """Acquire, for the block."""
        lease = self.acquire()
        self._entered[contexts.current()] = lease
        return lease

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release; raise LockLost if the lease was lost and the block has raised nothing itself."""
        self._leave(self._take_entered(), failed=error is not None)

    async def __aenter__(self) -> Lease:
        """Acquire, for the block."""
        lease = await self.aacquire()
        self._entered[contexts.current()] = lease
        return lease

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release; raise LockLost if the lease was lost and the block has raised nothing itself."""
        lease = self._take_entered()
        await acquiring.in_thread(functools.partial(self._leave, lease, failed=error is not None))

    def __call__(self, function: Function) -> Function:
        """Hold the lock for each call, sync or async; `{argument}` in the name is filled from the call's arguments."""
        signature = inspect.signature(function)

        def bound(*arguments: Any, **options: Any) -> Lock:  # Those of the function.
            given = signature.bind(*arguments, **options)
            given.apply_defaults()
            name = names.check(self.name.format(**given.arguments))
            return replace(self, name=name, _entered={})

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            stack = ExitStack()
            try:
                stack.enter_context(bound(*arguments, **options))
            except LockTimeout:
                if self.skip:
                    return None
                raise
            with stack:
                return function(*arguments, **options)

        @functools.wraps(function)
        async def acall(*arguments: Any, **options: Any) -> Any:
            stack = AsyncExitStack()
            try:
                await stack.enter_async_context(bound(*arguments, **options))
            except LockTimeout:
                if self.skip:
                    return None
                raise
            async with stack:
                return await function(*arguments, **options)

        return cast("Function", acall if inspect.iscoroutinefunction(function) else call)

    def _claim(self) -> tuple[Claim, contexts.Place]:
        place = contexts.place(self.backend.alias, self.kind, self.name)
        claim = Claim(
            self.kind, self.name, self.exclusive, self.limit, self.ttl_seconds, claims.new_token(), claims.owner()
        )
        return claim, place

    def _wait_seconds(self, timeout: Duration | None) -> float:
        return self.timeout_seconds if timeout is None else durations.timeout(timeout)

    def _lease(self, claim: Claim, grant: Grant, place: contexts.Place) -> Lease:
        lease = Lease(self.backend, claim, grant, place=place)
        if self.renew:
            watchdog().renew(lease, max_hold_seconds=self.backend.max_hold_seconds)
        return lease

    def _take_entered(self) -> Lease:
        """Return the lease of the block that ends; a generator's block may end in another thread than it began."""
        here = contexts.current()
        if here in self._entered:
            return self._entered.pop(here)
        if len(self._entered) == 1:
            return self._entered.popitem()[1]
        raise LockUsageError(f"{self.kind} {self.name!r} was not entered here")

    def _leave(self, lease: Lease, *, failed: bool) -> None:
        if not lease.is_mine():
            return
        if self.release == "on_commit" and lease.lost is None:
            releasing.after_transaction(lease.release, using=self.using)
            return
        reason = lease.lost
        lease.release()
        reason = reason or lease.lost  # The release may have found out.
        if reason is not None and not failed:
            raise LockLost(f"the lease of {self.name!r} was lost before its block ended: {reason}", reason=reason)
