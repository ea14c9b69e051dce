"""The clock of validity. It also counts the time in which the machine slept, which the server counts too."""

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Return seconds since some moment of the past; no change of the wall clock moves it."""
    return time.clock_gettime(_CLOCK)
