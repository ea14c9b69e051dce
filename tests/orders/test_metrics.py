"""What Prometheus is told of placing."""

import pytest
from prometheus_client import REGISTRY

from orders import placing
from tests.races.sale import open_sale, wants

pytestmark = pytest.mark.django_db(transaction=True)


def count(name: str, **labels: str) -> float:
    """Read a metric of this process."""
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_a_batch_is_counted_by_what_became_of_it() -> None:
    """One placed, one replayed, one sold out; one batch of three."""
    open_sale("tee", total=1)
    names = ("placed", "replayed", "sold_out")
    before = [count("placing_outcomes_total", outcome=name) for name in names]
    batches = count("placing_batch_commands_count")

    placing.place([wants("tee", request_id="one"), wants("tee", request_id="one"), wants("tee")])

    after = [count("placing_outcomes_total", outcome=name) for name in names]
    assert [new - old for new, old in zip(after, before, strict=True)] == [1, 1, 1]
    assert count("placing_batch_commands_count") - batches == 1
