"""How callers describe locks: `lock`, `rwlock` and `semaphore`, with the defaults of LOCKING."""

import functools

from locking import backends, durations, names
from locking.claims import Kind
from locking.durations import Duration
from locking.exceptions import LockUsageError
from locking.locks import Lock, Release

#: Out of reach: any number of readers.
READERS_MAX = 1_000_000
PERMITS_MAX = 100_000


def lock(
    name: str,
    *,
    ttl: Duration | None = None,
    timeout: Duration | None = None,
    backend: str = backends.DEFAULT,
    renew: bool = True,
    release: Release = "now",
    using: str | None = None,
    skip: bool = False,
) -> Lock:
    """Describe a lock that one holder has at a time.

    `ttl` is the lease and `timeout` the wait, in seconds or as timedelta; LOCKING[backend] has the defaults. A lease is
    renewed until its release, for MAX_HOLD at most, unless `renew` is False. `release="on_commit"` keeps it until the
    open transaction of the database `using` has ended. `skip` is for the decorator: a call that does not get the lock
    returns None.
    """
    return _describe(
        "lock",
        name,
        exclusive=True,
        limit=1,
        backend=backend,
        ttl=ttl,
        timeout=timeout,
        renew=renew,
        release=release,
        using=using,
        skip=skip,
    )


def semaphore(
    name: str,
    *,
    limit: int,
    ttl: Duration | None = None,
    timeout: Duration | None = None,
    backend: str = backends.DEFAULT,
    renew: bool = True,
) -> Lock:
    """Describe a lock that `limit` holders have at a time. A dead one's permit comes back with the end of its lease."""
    if type(limit) is not int or not 1 <= limit <= PERMITS_MAX:
        raise LockUsageError(f"limit must be a whole number between 1 and {PERMITS_MAX}, not {limit!r}")
    return _describe(
        "semaphore", name, exclusive=False, limit=limit, backend=backend, ttl=ttl, timeout=timeout, renew=renew
    )


class RWLock:
    """A lock that many readers or one writer have. First come, first served: readers cannot starve a writer."""

    def __init__(self, name: str, *, ttl: Duration | None, timeout: Duration | None, backend: str, renew: bool) -> None:
        """Describe both sides."""
        self._side = functools.partial(
            _describe, "rwlock", name, backend=backend, ttl=ttl, timeout=timeout, renew=renew
        )

    def read(self) -> Lock:
        """Describe a reader's side: each reader has a lease of its own."""
        return self._side(exclusive=False, limit=READERS_MAX)

    def write(self) -> Lock:
        """Describe the writer's side."""
        return self._side(exclusive=True, limit=1)


def rwlock(
    name: str,
    *,
    ttl: Duration | None = None,
    timeout: Duration | None = None,
    backend: str = backends.DEFAULT,
    renew: bool = True,
) -> RWLock:
    """Describe a lock for many readers or one writer."""
    return RWLock(name, ttl=ttl, timeout=timeout, backend=backend, renew=renew)


def _describe(
    kind: Kind,
    name: str,
    *,
    exclusive: bool,
    limit: int,
    backend: str,
    ttl: Duration | None,
    timeout: Duration | None,
    renew: bool,
    release: Release = "now",
    using: str | None = None,
    skip: bool = False,
) -> Lock:
    of = backends.get(backend)
    if kind not in of.kinds:
        raise LockUsageError(f"the backend of LOCKING[{backend!r}] has no {kind}")
    if release not in {"now", "on_commit"}:
        raise LockUsageError(f'release must be "now" or "on_commit", not {release!r}')
    return Lock(
        name=names.check(name),
        kind=kind,
        exclusive=exclusive,
        limit=limit,
        ttl_seconds=of.ttl_seconds if ttl is None else durations.ttl(ttl),
        timeout_seconds=of.timeout_seconds if timeout is None else durations.timeout(timeout),
        backend=of,
        renew=renew,
        release=release,
        using=using,
        skip=skip,
    )
