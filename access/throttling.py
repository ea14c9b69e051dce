"""Throttles per buyer and per address, shared by all processes, in one round trip to Valkey."""

import hashlib
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django_redis import get_redis_connection
from prometheus_client import Counter
from redis.exceptions import NoScriptError, RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from access import addresses
from access.caller import caller_of
from access.rates import Rate

ALIAS = "gate"
SCRIPT = (Path(__file__).parent / "throttle.lua").read_text(encoding="utf-8")
SCRIPT_SHA = hashlib.sha1(SCRIPT.encode(), usedforsecurity=False).hexdigest()
#: After a failure Valkey is left alone for so long, so that its time-out is not paid by every request.
REST_SECONDS = 1.0
KEY_DIGEST_BYTES = 16

failed_open = Counter("throttle_failed_open_total", "Calls that went on uncounted because Valkey could not be reached.")


class OrderThrottle(BaseThrottle):
    """Limit order calls: THROTTLE_BUYER per buyer, THROTTLE_ADDRESS per address. Without Valkey all go on."""

    _resting_until = 0.0
    _wait_seconds: int | None = None

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the call; False when one of its limits is reached."""
        counted = list(_counted(request))
        if not counted or time.monotonic() < OrderThrottle._resting_until:
            return True
        try:
            early = max(_count(counted))
        except RedisError:
            OrderThrottle._resting_until = time.monotonic() + REST_SECONDS
            failed_open.inc()
            return True
        self._wait_seconds = math.ceil(early / 1_000_000)
        return early == 0

    def wait(self) -> float | None:
        """Give the seconds until the next call may go on."""
        return self._wait_seconds


def _counted(request: Request) -> list[tuple[str, Rate]]:
    """List what this call counts against: keys and their rates."""
    keys: list[tuple[str, Rate]] = []
    caller = caller_of(request)
    if settings.THROTTLE_BUYER is not None and caller is not None:
        keys.append((_key("buyer", caller.buyer), settings.THROTTLE_BUYER))
    if settings.THROTTLE_ADDRESS is not None:
        keys.append((_key("address", addresses.network_of(request.META)), settings.THROTTLE_ADDRESS))
    return keys


def _key(kind: str, name: str) -> str:
    digest = hashlib.blake2b(name.encode(), digest_size=KEY_DIGEST_BYTES).hexdigest()
    return f"throttle:{kind}:{digest}"


# A pipeline of one-key calls, not one call with two keys: the keys lie in different slots of a Cluster.
def _count(counted: Sequence[tuple[str, Rate]]) -> list[int]:
    client = get_redis_connection(ALIAS)
    try:
        return _send(client, counted, "evalsha", SCRIPT_SHA)
    except NoScriptError:
        return _send(client, counted, "eval", SCRIPT)


# The client is Any: redis-py's commands are typed for sync and async at once.
def _send(client: Any, counted: Sequence[tuple[str, Rate]], command: str, script: str) -> list[int]:
    if len(counted) == 1:
        [(key, rate)] = counted
        return [getattr(client, command)(script, 1, key, rate.call_us, rate.burst_us)]
    pipeline = client.pipeline(transaction=False)
    for key, rate in counted:
        getattr(pipeline, command)(script, 1, key, rate.call_us, rate.burst_us)
    answers: list[int] = pipeline.execute()
    return answers
