"""Throttles per buyer and per address, shared by all processes, in one round trip to Valkey."""

import hashlib
import math
from pathlib import Path

from django.conf import settings
from django_redis import get_redis_connection
from prometheus_client import Counter
from redis.exceptions import NoScriptError, RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from access import addresses
from access.breaker import Breaker
from access.caller import caller_of
from access.rates import Rate

ALIAS = "gate"
SCRIPT = (Path(__file__).parent / "throttle.lua").read_text(encoding="utf-8")
SCRIPT_SHA = hashlib.sha1(SCRIPT.encode(), usedforsecurity=False).hexdigest()
#: Both limits are decided by one script, so that neither counts what the other refuses; for that their keys lie in one
#: slot of a Cluster. A node bears it: a call takes it some microseconds.
KEY_PREFIX = "{throttle}"
KEY_DIGEST_BYTES = 16
REST_SECONDS = 1.0

breaker = Breaker(rest_seconds=REST_SECONDS)
failed_open = Counter("throttle_failed_open_total", "Calls that went on uncounted because Valkey could not be reached.")


class OrderThrottle(BaseThrottle):
    """Limit order calls: THROTTLE_BUYER per buyer, THROTTLE_ADDRESS per address. Without Valkey all go on."""

    _wait_us = 0

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the call; False when one of its limits is reached."""
        self._wait_us = _wait_us(_limits(request))
        return self._wait_us == 0

    def wait(self) -> float | None:
        """Give the seconds until a call may go on."""
        return math.ceil(self._wait_us / 1_000_000) or None


def _limits(request: Request) -> dict[str, Rate]:
    """List what this call counts against: keys and their rates."""
    limits: dict[str, Rate] = {}
    caller = caller_of(request)
    if settings.THROTTLE_BUYER is not None and caller is not None:
        limits[_key("buyer", caller.buyer)] = settings.THROTTLE_BUYER
    if settings.THROTTLE_ADDRESS is not None:
        limits[_key("address", addresses.network_of(request.META))] = settings.THROTTLE_ADDRESS
    return limits


def _key(kind: str, name: str) -> str:
    digest = hashlib.blake2b(name.encode(), digest_size=KEY_DIGEST_BYTES).hexdigest()
    return f"{KEY_PREFIX}:{kind}:{digest}"


def _wait_us(limits: dict[str, Rate]) -> int:
    """Count a call, and give the microseconds that it comes too early."""
    if not limits:
        return 0
    if not breaker.lets_try():
        failed_open.inc()
        return 0
    try:
        wait_us = _ask(limits)
    except RedisError:
        breaker.failed()
        failed_open.inc()
        return 0
    breaker.succeeded()
    return wait_us


def _ask(limits: dict[str, Rate]) -> int:
    client = get_redis_connection(ALIAS)
    numbers = [number for rate in limits.values() for number in (rate.calls, rate.window_us)]
    try:
        return int(client.evalsha(SCRIPT_SHA, len(limits), *limits, *numbers))
    except NoScriptError:
        return int(client.eval(SCRIPT, len(limits), *limits, *numbers))
