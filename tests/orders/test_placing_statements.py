"""How many SQL statements a batch costs: the same number however long it is."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from orders import placing
from orders.command import PlaceOrder
from tests.races.sale import open_sale, told, wants

pytestmark = pytest.mark.django_db(transaction=True)

# The limits of the waits, the lock, the stock rows, the orders that exist, the tallies.
READING = 5
# Orders, lines, tallies, movements, stock rows.
WRITING = 5


def statements(*commands: PlaceOrder) -> tuple[int, set[str]]:
    """Count the statements of a batch between BEGIN and its end, and say what buyers were told."""
    with CaptureQueriesContext(connection) as captured:
        outcomes = placing.place(commands)
    sent = [query["sql"] for query in captured]
    assert (sent[0], sent[-1]) == ("BEGIN", "COMMIT")
    return len(sent) - 2, {told(outcome) for outcome in outcomes}


@pytest.mark.parametrize("length", [1, 10, 200])
def test_a_batch_of_any_length_costs_the_same_statements(length: int) -> None:
    """Ten, between BEGIN and COMMIT."""
    open_sale(total=500)

    assert statements(*[wants("tee", buyer=f"b{n}") for n in range(length)]) == (READING + WRITING, {"placed"})


def test_a_mixed_batch_costs_no_more() -> None:
    """Several products, lines, buyers, replays, mismatches and refusals."""
    for sku in ("cup", "hat", "tee"):
        open_sale(sku, total=50, limit_per_buyer=10)
    known = wants("tee", request_id="known")
    placing.place([known])

    count, codes = statements(
        *[wants({"tee": 1, "cup": 2, "hat": 1}, buyer=f"b{n}") for n in range(10)],
        *[wants("hat", buyer="bob") for _ in range(10)],
        *[known] * 3,
        wants("cup", request_id="known"),
        wants({"cup": 40}, buyer="cleo"),
        wants("none"),
    )

    assert codes == {"placed", "replayed", "request_id_reused", "purchase_limit", "unknown_product"}
    assert count == READING + WRITING


@pytest.mark.parametrize("length", [1, 200])
def test_a_batch_that_places_nothing_only_reads(length: int) -> None:
    """A crowd that is too late costs half, and locks the row for as long as five statements take."""
    open_sale(total=0)

    assert statements(*[wants("tee", buyer=f"b{n}") for n in range(length)]) == (READING, {"sold_out"})


def test_a_replay_only_reads() -> None:
    """Nothing is written for what is there."""
    open_sale(total=5)
    command = wants("tee")
    placing.place([command])

    assert statements(command) == (READING, {"replayed"})
