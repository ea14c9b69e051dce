"""What Prometheus is told of placing: counted once per batch, not per request."""

from collections import Counter as Tally
from collections.abc import Sequence

from prometheus_client import Counter, Histogram

from orders.outcomes import Broken, Outcome, Placed

BATCH_BUCKETS = (1, 2, 5, 10, 20, 50, 100, 200)
SECONDS_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

outcomes_total = Counter("placing_outcomes_total", "Commands by what became of them.", ["outcome"])
batch_commands = Histogram("placing_batch_commands", "Commands in a batch.", buckets=BATCH_BUCKETS)
batch_seconds = Histogram("placing_seconds", "Time of a batch, its retries included.", buckets=SECONDS_BUCKETS)


def observe(outcomes: Sequence[Outcome], *, seconds: float) -> None:
    """Count a batch and what became of it."""
    batch_commands.observe(len(outcomes))
    batch_seconds.observe(seconds)
    for name, count in Tally(map(_name, outcomes)).items():
        outcomes_total.labels(name).inc(count)


def _name(outcome: Outcome) -> str:
    """Say placed, replayed or broken, or the code of the refusal."""
    if isinstance(outcome, Placed):
        return "replayed" if outcome.replayed else "placed"
    return "broken" if isinstance(outcome, Broken) else outcome.refusal.code
