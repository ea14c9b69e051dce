"""Locks on one Valkey or Redis, through a django-redis alias: standalone, Sentinel or Cluster."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django_redis import get_redis_connection
from redis.cluster import RedisCluster

from locking.backends import listing
from locking.backends.base import Backend
from locking.backends.keys import Keys
from locking.backends.listener import Listener
from locking.backends.scripts import ACQUIRE, RELEASE, RENEW, Argument
from locking.claims import Claim, Ending, Granted, Holding, Kind, Post, Refused, Standing

ALIAS = "locks"
#: A waiter to whom nothing can be told asks this often.
POLL_SECONDS = 0.05
STANDINGS = {1: Standing.HELD, 0: Standing.EXPIRED, -1: Standing.TAKEN}


class RedisBackend(Backend):
    """Locks on one server, or on the primary of a Sentinel set, or each on its slot's node of a Cluster.

    A fail-over loses what was not replicated: the holder is told when its next renewal finds nothing, and the fence
    says to the database which of two holders is the later one.
    """

    options: ClassVar[frozenset[str]] = frozenset({"CACHE"})

    def __init__(self, alias: str, options: Mapping[str, Any]) -> None:
        """Take the options of LOCKING[alias]; CACHE is an alias of CACHES."""
        self.cache: str = options.get("CACHE", ALIAS)
        self.keys = Keys(prefix=f"{self.cache}:lock")
        super().__init__(alias, options)

    def begin_anew(self) -> None:
        """Begin without a connection, and with a channel of one's own."""
        super().begin_anew()
        self._client: Any = None  # redis-py's client is typed for sync and async at once.
        self._listener = Listener(lambda: self.client, prefix=self.keys.prefix)

    @property
    def client(self) -> Any:
        """Give the client, whose connections all threads share."""
        if self._client is None:
            self._client = get_redis_connection(self.cache)
        return self._client

    @property
    def _is_cluster(self) -> bool:
        return isinstance(self.client, RedisCluster)

    @property
    def _counts(self) -> int:
        """Tell the scripts whether PUBLISH counts all who listen: in a Cluster it counts those of one node."""
        return int(not self._is_cluster)

    def ask(self, claim: Claim, *, wait_seconds: float, post: Post) -> Granted | Refused:
        """Ask for the claim once, in one script."""
        hears = wait_seconds > 0 and self._listener.expect(claim, post)
        arguments: list[Argument] = [
            claim.token,
            _flag(claim),
            claim.limit,
            _ms(claim),
            max(1, round(wait_seconds * 1000)) if wait_seconds > 0 else 0,
            self._listener.channel if hears else "",
            claim.owner,
            self._counts,
        ]
        reply = ACQUIRE(self.client, self.keys.of(claim.kind, claim.name), arguments)
        if isinstance(reply, bytes):
            return Granted(int(reply))
        recheck_seconds = int(reply) / 1_000_000
        return Refused(recheck_seconds if hears else min(recheck_seconds, POLL_SECONDS))

    def forget(self, claim: Claim) -> None:
        """Post nothing more to a claim that no longer waits."""
        self._listener.forget(claim)

    def release(self, claim: Claim) -> Ending:
        """End the claim, granted or waiting, in one script."""
        ended = RELEASE(self.client, self.keys.of(claim.kind, claim.name)[:3], [claim.token, self._counts])
        return Ending.RELEASED if ended > 0 else Ending.TAKEN if ended < 0 else Ending.EXPIRED

    def renew(self, claims: Sequence[Claim]) -> list[Standing]:
        """Let the leases last longer, all in one command; in a Cluster, whose commands have one slot, in one each."""
        if self._is_cluster:
            return [self._renew([claim], ttl=True)[0] for claim in claims]
        return self._renew(claims, ttl=True)

    def look(self, claim: Claim) -> Standing:
        """Say how the claim stands."""
        return self._renew([claim], ttl=False)[0]

    def _renew(self, claims: Sequence[Claim], *, ttl: bool) -> list[Standing]:
        keys = [key for claim in claims for key in self.keys.of(claim.kind, claim.name)[:2]]
        arguments: list[Argument] = [
            part for claim in claims for part in (_flag(claim) + claim.token, _ms(claim) if ttl else 0)
        ]
        return [STANDINGS[standing] for standing in RENEW(self.client, keys, arguments)]

    def holdings(self) -> Iterable[Holding]:
        """Yield who holds and who waits."""
        return listing.holdings(self.client, self.keys)

    def force_release(self, *, kind: Kind, name: str) -> int:
        """Take a lock from all who hold it."""
        return max(0, int(RELEASE(self.client, self.keys.of(kind, name)[:3], ["*", self._counts])))


def _flag(claim: Claim) -> str:
    return "x" if claim.exclusive else "s"


def _ms(claim: Claim) -> int:
    return round(claim.ttl_seconds * 1000)
