"""What becomes of the commands that are placed, in memory, against the books as they were read."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from uuid_utils.compat import uuid7

from orders import deciding
from orders.outcomes import Placed
from tests.orders.as_read import NOW, decide, order_of, read, stocked, wants

# --- Equal requests in one batch ----------------------------------------------------------------


def test_equal_requests_in_one_batch_count_as_one() -> None:
    """The second gets the order of the first."""
    row = stocked()
    first, second = deciding.decide([wants(), wants()], read(row), new_id=uuid7)

    assert isinstance(first, Placed)
    assert second == Placed(first.order, replayed=True)
    assert row.available == 9


def test_other_content_under_one_request_id_is_refused_in_the_same_batch() -> None:
    """The first made the order."""
    assert decide(read(stocked()), wants(("tee", 1)), wants(("tee", 2))) == ["placed", "request_id_reused"]


def test_a_refused_request_leaves_its_request_id_free() -> None:
    """A refusal leaves no trace in the request's future."""
    books = read(stocked(available=1))

    assert decide(books, wants(("tee", 2)), wants(("tee", 1))) == ["sold_out", "placed"]


# --- The order ----------------------------------------------------------------------------------


def test_price_and_total_are_those_of_the_moment() -> None:
    """The price is fixed when the order is placed."""
    order = order_of(read(stocked("cup", price=Decimal("0.05")), stocked()), wants(("tee", 2), ("cup", 3)))

    assert [(line.product, line.quantity, str(line.unit_price)) for line in order.lines] == [
        ("cup", 3, "0.05"),
        ("tee", 2, "19.90"),
    ]
    assert (str(order.total), order.currency) == ("39.95", "EUR")


@pytest.mark.parametrize(("total", "code"), [("19.90", "placed"), ("19.9", "placed"), ("19.91", "price_changed")])
def test_an_expected_total_is_compared_as_a_number(total: str, code: str) -> None:
    """19.9 and 19.90 are the same money."""
    assert decide(read(stocked()), wants(total=total)) == [code]


def test_an_order_is_held_as_long_as_its_shortest_hold() -> None:
    """A hold of several products ends with the first of theirs; one without an end does not lengthen it."""
    books = read(stocked("cup", hold_seconds=None), stocked("tee", hold_seconds=600), stocked("hat", hold_seconds=60))

    order = order_of(books, wants(("cup", 1), ("tee", 1), ("hat", 1)))

    assert (order.status, order.expires_at) == ("reserved", NOW + timedelta(seconds=60))


def test_a_hold_without_an_end_stays_without_one() -> None:
    """`hold_seconds` null is a hold that never ends."""
    order = order_of(read(stocked(hold_seconds=None)), wants())

    assert (order.status, order.expires_at) == ("reserved", None)


def test_what_costs_nothing_is_confirmed_at_once() -> None:
    """Coupons and sign-ups are nobody's to pay, and are not held."""
    row = stocked(price=Decimal("0.00"))

    order = order_of(read(row), wants(("tee", 2)))

    assert (order.status, order.confirmed_at, order.expires_at) == ("confirmed", NOW, None)
    assert (row.available, row.held) == (8, 0)


def test_placing_moves_units_from_available_to_held() -> None:
    """Held are the units of reserved orders; the ledger has an entry for each line."""
    row = stocked(held=1)
    books = read(row)

    order = order_of(books, wants(("tee", 3)))

    assert (row.available, row.held, row.orders_total, row.ledger_seq) == (7, 4, 1, 2)
    assert books.tallies == {(row.product_id, "ann"): 3}
    assert entries(books.movements) == [("placed", -3, 7, "ann", order.id)]


def entries(movements: Sequence[Any]) -> list[tuple[Any, ...]]:  # a ledger's entries, in the columns of the test
    """Give what the ledger says of each movement."""
    return [(entry.kind, entry.delta, entry.balance_after, entry.actor, entry.order_id) for entry in movements]
