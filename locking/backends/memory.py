"""Locks of one process, for threads and asyncio: the same queue in Python that the Lua scripts keep on a server."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from locking import clock
from locking.backends.base import Backend
from locking.claims import Claim, Ending, Granted, Holding, Kind, Post, Refused, Standing

#: As in queue.lua.
OFFER_SECONDS = 0.5
RECHECK_SECONDS = 2.0


@dataclass(slots=True)
class _Holder:
    claim: Claim
    fence: int  # 0: it was offered and not yet taken.
    since: float
    ends_at: float


@dataclass(slots=True)
class _Waiter:
    claim: Claim
    since: float
    ends_at: float
    post: Post
    known: float


@dataclass(slots=True)
class _Resource:
    """One name: who holds it by token, and who waits in the order of coming."""

    holders: dict[str, _Holder] = field(default_factory=dict)
    queue: dict[str, _Waiter] = field(default_factory=dict)

    def purge(self, now: float) -> None:
        for token in [token for token, holder in self.holders.items() if holder.ends_at <= now]:
            del self.holders[token]
        for token in [token for token, waiter in self.queue.items() if waiter.ends_at <= now]:
            del self.queue[token]

    def has_room(self, claim: Claim) -> bool:
        if not self.holders:
            return True
        one = next(iter(self.holders.values()))
        return not (claim.exclusive or one.claim.exclusive) and len(self.holders) < claim.limit

    def first_end(self, now: float) -> float:
        return min((holder.ends_at for holder in self.holders.values()), default=now)

    def serve(self, now: float) -> None:
        """Offer what is free to those who are first, then tell the next one when it ends if that is sooner."""
        while self.queue:
            token, waiter = next(iter(self.queue.items()))
            if not self.has_room(waiter.claim):
                if (ends_at := self.first_end(now)) < waiter.known:
                    waiter.known = ends_at
                    waiter.post(ends_at - now)
                return
            del self.queue[token]
            if waiter.post(None):
                self.holders[token] = _Holder(waiter.claim, 0, now, now + OFFER_SECONDS)


class MemoryBackend(Backend):
    """Locks of one process. `clock` is whatever gives rising seconds: tests bring their own."""

    def __init__(self, alias: str, options: Mapping[str, Any], *, clock: Callable[[], float] = clock.now) -> None:
        """Take the options of LOCKING[alias]."""
        super().__init__(alias, options)
        self._now = clock

    def begin_anew(self) -> None:
        """Begin with no lock held and nobody in line."""
        super().begin_anew()
        self._lock = threading.Lock()
        self._resources: dict[tuple[Kind, str], _Resource] = {}
        self._last_fence = 0

    def ask(self, claim: Claim, *, wait_seconds: float, post: Post) -> Granted | Refused:
        """Ask for the claim once."""
        with self._lock:
            now = self._now()
            resource = self._resources.setdefault((claim.kind, claim.name), _Resource())
            try:
                return self._ask(resource, claim, now=now, wait_seconds=wait_seconds, post=post)
            finally:
                self._drop_if_empty(claim.kind, claim.name)

    def _ask(
        self, resource: _Resource, claim: Claim, *, now: float, wait_seconds: float, post: Post
    ) -> Granted | Refused:
        resource.purge(now)
        if (holder := resource.holders.get(claim.token)) is not None:
            holder.fence = holder.fence or self._mint()
            holder.ends_at = now + claim.ttl_seconds
            resource.serve(now)
            return Granted(holder.fence)
        first = next(iter(resource.queue), claim.token)
        if first == claim.token and resource.has_room(claim):
            resource.queue.pop(claim.token, None)
            fence = self._mint()
            resource.holders[claim.token] = _Holder(claim, fence, now, now + claim.ttl_seconds)
            resource.serve(now)
            return Granted(fence)
        if wait_seconds <= 0:
            resource.queue.pop(claim.token, None)
        elif (waiter := resource.queue.get(claim.token)) is not None:
            waiter.ends_at = now + wait_seconds + OFFER_SECONDS
            waiter.known = min(now + RECHECK_SECONDS, resource.first_end(now))
        else:
            known = min(now + RECHECK_SECONDS, resource.first_end(now))
            resource.queue[claim.token] = _Waiter(claim, now, now + wait_seconds + OFFER_SECONDS, post, known)
        resource.serve(now)
        return Refused(max(0.001, min(resource.first_end(now) - now, RECHECK_SECONDS)))

    def _mint(self) -> int:
        # As the scripts do, so that fences in a table rise also over a restart of the process.
        self._last_fence = max(self._last_fence + 1, time.time_ns() // 1000)
        return self._last_fence

    def release(self, claim: Claim) -> Ending:
        """End the claim, granted or waiting."""
        with self._lock:
            resource = self._resources.get((claim.kind, claim.name))
            if resource is None:
                return Ending.EXPIRED
            now = self._now()
            resource.purge(now)
            resource.queue.pop(claim.token, None)
            held = resource.holders.pop(claim.token, None)
            is_taken = bool(resource.holders)
            resource.serve(now)
            self._drop_if_empty(claim.kind, claim.name)
        if held is not None:
            return Ending.RELEASED
        return Ending.TAKEN if is_taken else Ending.EXPIRED

    def renew(self, claims: Sequence[Claim]) -> list[Standing]:
        """Let each lease that has not ended last longer."""
        with self._lock:
            return [self._standing(claim, renew=True) for claim in claims]

    def look(self, claim: Claim) -> Standing:
        """Say how the claim stands."""
        with self._lock:
            return self._standing(claim, renew=False)

    def _standing(self, claim: Claim, *, renew: bool) -> Standing:
        now = self._now()
        resource = self._resources.get((claim.kind, claim.name), _Resource())
        resource.purge(now)
        holder = resource.holders.get(claim.token)
        if holder is None:
            return Standing.TAKEN if resource.holders else Standing.EXPIRED
        if renew:
            holder.ends_at = now + claim.ttl_seconds
        return Standing.HELD

    def holdings(self) -> Iterable[Holding]:
        """Yield who holds and who waits."""
        with self._lock:
            now = self._now()
            held = [holder for resource in self._resources.values() for holder in resource.holders.values()]
            waiting = [waiter for resource in self._resources.values() for waiter in resource.queue.values()]
            found = [_holding(one.claim, one.fence or None, now - one.since, one.ends_at - now) for one in held]
            found += [_holding(one.claim, None, now - one.since, one.ends_at - now) for one in waiting]
        yield from found

    def force_release(self, *, kind: Kind, name: str) -> int:
        """Take a lock from all who hold it."""
        with self._lock:
            resource = self._resources.get((kind, name), _Resource())
            now = self._now()
            resource.purge(now)
            count = len(resource.holders)
            resource.holders.clear()
            resource.serve(now)
            self._drop_if_empty(kind, name)
        return count

    def _drop_if_empty(self, kind: Kind, name: str) -> None:
        resource = self._resources.get((kind, name))
        if resource is not None and not resource.holders and not resource.queue:
            del self._resources[kind, name]


def _holding(claim: Claim, fence: int | None, age_seconds: float, remaining_seconds: float) -> Holding:
    return Holding(
        kind=claim.kind,
        name=claim.name,
        token=claim.token,
        owner=claim.owner,
        exclusive=claim.exclusive,
        fence=fence,
        age_seconds=age_seconds,
        remaining_seconds=remaining_seconds,
    )
