"""A rate: so many calls in so many seconds."""

import re
from dataclasses import dataclass

PATTERN = re.compile(r"(\d{1,9})/(\d{1,6})s\Z")


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of calls in a number of seconds; as text `100/10s`."""

    calls: int
    seconds: int

    @property
    def call_us(self) -> int:
        """Give the microseconds that one call takes of the rate."""
        return max(1, self.burst_us // self.calls)

    @property
    def burst_us(self) -> int:
        """Give the microseconds of calls that may come at once: all of the rate."""
        return self.seconds * 1_000_000


def parse(text: str) -> Rate | None:
    """Read a rate; None for an empty text, ValueError for anything else."""
    if not text:
        return None
    match = PATTERN.match(text)
    if match is None or int(match[1]) == 0 or int(match[2]) == 0:
        raise ValueError(f"a rate looks like 100/10s, not like {text!r}")
    return Rate(int(match[1]), int(match[2]))
