"""A rate: so many calls in so many seconds."""

import re
from dataclasses import dataclass

PATTERN = re.compile(r"(\d{1,9})/(\d{1,6})s\Z", re.ASCII)
#: A rate's calls are remembered one by one, in some ten bytes each.
CALLS_MAX = 100_000
SECONDS_MAX = 86_400


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of calls in any stretch of so many seconds; as text `100/10s`."""

    calls: int
    seconds: int

    @property
    def window_us(self) -> int:
        """Give the stretch in microseconds."""
        return self.seconds * 1_000_000


def parse(text: str) -> Rate | None:
    """Read a rate; None for an empty text, ValueError for anything else."""
    if not text:
        return None
    match = PATTERN.match(text)
    if match is None:
        raise ValueError(f"a rate looks like 100/10s, not like {text!r}")
    rate = Rate(int(match[1]), int(match[2]))
    if not 1 <= rate.calls <= CALLS_MAX or not 1 <= rate.seconds <= SECONDS_MAX:
        raise ValueError(f"a rate is 1 to {CALLS_MAX} calls in 1 to {SECONDS_MAX} seconds, not {text}")
    return rate
