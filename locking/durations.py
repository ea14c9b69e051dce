"""Durations as callers give them: seconds as a number, or a timedelta. Always finite."""

import math
from datetime import timedelta

from locking.exceptions import LockUsageError

Duration = float | timedelta

#: A shorter lease would be over before its holder is told that it began.
TTL_SECONDS_MIN = 0.01
TTL_SECONDS_MAX = 7 * 24 * 3600.0
TIMEOUT_SECONDS_MAX = 24 * 3600.0


def ttl(value: Duration, *, what: str = "ttl") -> float:
    """Return the seconds of a lease; raise LockUsageError unless it is between 10 ms and a week."""
    return _seconds(value, what=what, least=TTL_SECONDS_MIN, most=TTL_SECONDS_MAX)


def timeout(value: Duration, *, what: str = "timeout") -> float:
    """Return the seconds of a wait; raise LockUsageError unless it is between nothing and a day."""
    return _seconds(value, what=what, least=0, most=TIMEOUT_SECONDS_MAX)


def _seconds(value: object, *, what: str, least: float, most: float) -> float:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    # True is an int, and NaN compares false with everything.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise LockUsageError(f"{what} must be a finite number of seconds or a timedelta, not {value!r}")
    if not least <= value <= most:
        raise LockUsageError(f"{what} must be between {least:g} and {most:g} seconds, not {value!r}")
    return float(value)
