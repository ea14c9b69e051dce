"""A distributed lock: `SET NX PX` with a random token, released by a script that checks the token.

The algorithm is the single-instance lock of the Redis documentation ("Distributed Locks with Redis"). It saves work and
proves nothing: what must hold beyond the lease is a constraint's business.
"""

import random
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django_redis import get_redis_connection
from redis.exceptions import RedisError

from locking.exceptions import LockTimeout, LockUnavailable

ALIAS = "locks"
RELEASE = (Path(__file__).parent / "release.lua").read_text(encoding="utf-8")
#: Waiters ask again after a random pause up to this, so that they do not all ask at once.
RETRY_PAUSE_SECONDS = 0.01


@contextmanager
def lock(names: Sequence[str], *, wait_seconds: float, ttl_seconds: float) -> Iterator[None]:
    """Hold the locks of all names, taken in sorted order; raise LockTimeout or LockUnavailable before the block.

    The locks end by themselves `ttl_seconds` after they were taken. A release that fails is left to that.
    """
    deadline = time.monotonic() + wait_seconds
    with ExitStack() as held:
        for name in sorted(set(names)):
            held.enter_context(_one(name, deadline=deadline, ttl_ms=round(ttl_seconds * 1000)))
        yield


@contextmanager
def _one(name: str, *, deadline: float, ttl_ms: int) -> Iterator[None]:
    client = get_redis_connection(ALIAS)
    key = f"lock:{{{name}}}"
    token = secrets.token_hex(16)
    try:
        _acquire(client, key, token, deadline=deadline, ttl_ms=ttl_ms)
        yield
    finally:
        _release(client, key, token)


# The client is Any: django-redis gives redis-py's client, whose commands are typed for sync and async at once.
def _acquire(client: Any, key: str, token: str, *, deadline: float, ttl_ms: int) -> None:
    while True:
        try:
            if client.set(key, token, nx=True, px=ttl_ms):
                return
        except RedisError as error:
            raise LockUnavailable from error
        if time.monotonic() >= deadline:
            raise LockTimeout
        time.sleep(random.uniform(0, RETRY_PAUSE_SECONDS))  # noqa: S311 - jitter is no secret.


def _release(client: Any, key: str, token: str) -> None:
    """Release, also after a failed acquire: its SET may have been executed and its answer lost."""
    try:
        client.eval(RELEASE, 1, key, token)
    except RedisError:
        return
