"""What placing reads of the books, and what it leaves in them."""

from decimal import Decimal

import pytest
from django.db import transaction

from inventory import services
from inventory.models import Stock, StockMovement
from orders import books, lifecycle, placing
from orders.command import PlaceOrder, merge_lines
from orders.models import BuyerTally, Order, OrderLine
from orders.outcomes import Placed, PlacedOrder
from tests.races.sale import open_sale, prove, wants

pytestmark = pytest.mark.django_db(transaction=True)


def place(command: PlaceOrder) -> PlacedOrder:
    """Place one order that there is no reason to refuse."""
    [outcome] = placing.place([command])
    assert isinstance(outcome, Placed)
    return outcome.order


def read(*commands: PlaceOrder) -> books.Books:
    """Read the books for a batch."""
    with transaction.atomic():
        return books.read(commands)


# --- Reading ------------------------------------------------------------------------------------


def test_an_order_is_read_as_it_was_written() -> None:
    """A replay shows what the first answer has shown: the same money, times and order of lines."""
    for sku in ("tee", "Tee", "t-1", "_"):
        open_sale(sku, total=5, price="0.10")
    command = wants({"tee": 1, "Tee": 2, "t-1": 1, "_": 1})

    order = place(command)

    assert read(command).orders == {command.key: (command.fingerprint, order)}


def test_orders_are_found_by_buyer_and_request_together() -> None:
    """I01: the key belongs to its buyer; a batch is no cross product of buyers and request ids."""
    open_sale("tee", total=5)
    place(wants("tee", buyer="ann", request_id="one"))
    place(wants("tee", buyer="bob", request_id="two"))

    swapped = [wants("tee", buyer="ann", request_id="two"), wants("tee", buyer="bob", request_id="one")]

    assert read(*swapped).orders == {}


def test_the_order_of_a_later_state_is_read_as_it_stands() -> None:
    """A replay gives the order of now: cancelled, if it was cancelled."""
    open_sale("tee", total=5)
    command = wants("tee")
    order = place(command)
    lifecycle.cancel([order.id], actor="ann")

    [(_, found)] = read(command).orders.values()

    assert (found.id, found.status) == (order.id, "cancelled")
    assert found.cancelled_at is not None


def test_a_tally_is_read_for_its_buyer_and_product_alone() -> None:
    """Who has nothing is not there."""
    open_sale("cup", total=5)
    open_sale("tee", total=5)
    place(wants({"tee": 2}, buyer="ann"))
    place(wants({"cup": 1}, buyer="bob"))

    found = read(wants("tee", buyer="ann"), wants("tee", buyer="bob"))

    assert found.tallies == {(found.rows["tee"].product_id, "ann"): 2}


def test_the_clock_is_read_where_no_product_is_found() -> None:
    """A batch of unknown products has no row, and is decided all the same."""
    found = read(wants("nothing"))

    assert found.rows == {}
    assert found.now.tzinfo is not None


@pytest.mark.parametrize("buyer", ["Ænne Müller", "李雷", "🦊", "q\"uo'te\\", "%s", "{a,b}", "b" * 128])
def test_any_printable_buyer_goes_in_and_comes_out(buyer: str) -> None:
    """Rows travel as JSON and arrays: no character of a name means anything on the way."""
    open_sale("tee", total=5)
    command = wants("tee", buyer=buyer)

    order = place(command)

    assert order.buyer == buyer
    assert read(command).orders[command.key][1] == order
    prove("tee")


# --- Writing ------------------------------------------------------------------------------------


def test_a_batch_leaves_orders_lines_tallies_movements_and_stock() -> None:
    """All of it in one transaction; each stock row is one version further, whatever its units."""
    open_sale("cup", total=9, price="5.00", hold_seconds=60)
    open_sale("tee", total=9)
    batch = [wants({"cup": 1, "tee": 2}, buyer="ann"), wants({"tee": 3}, buyer="bob")]

    placing.place(batch)

    assert Order.objects.count() == 2
    assert set(OrderLine.objects.values_list("order__buyer", "product__sku", "quantity", "unit_price")) == {
        ("ann", "cup", 1, Decimal("5.00")),
        ("ann", "tee", 2, Decimal("19.90")),
        ("bob", "tee", 3, Decimal("19.90")),
    }
    assert set(BuyerTally.objects.values_list("product__sku", "buyer", "units", "limit")) == {
        ("cup", "ann", 1, None),
        ("tee", "ann", 2, None),
        ("tee", "bob", 3, None),
    }
    assert list(Stock.objects.order_by("pk").values_list("available", "held", "orders_total", "version")) == [
        (8, 1, 1, 2),
        (4, 5, 2, 2),
    ]
    prove()


def test_the_ledger_goes_on_where_it_was() -> None:
    """Numbers without a gap, in the order of arrival, each entry chained to the one before."""
    open_sale("tee", total=9)
    placing.place([wants("tee", buyer="bob"), wants({"tee": 2}, buyer="ann")])

    entries = StockMovement.objects.order_by("seq").values_list("seq", "kind", "delta", "balance_after", "actor")

    assert list(entries) == [(1, "seeded", 9, 9, "staff"), (2, "placed", -1, 8, "bob"), (3, "placed", -2, 6, "ann")]
    prove("tee")


def test_the_tally_remembers_the_limit_of_the_last_placing() -> None:
    """The limit in force when an order was placed is the one it must keep."""
    open_sale("tee", total=9, limit_per_buyer=5)
    place(wants({"tee": 2}))
    services.update_product(sku="tee", limit_per_buyer=3)
    place(wants("tee"))

    tally = BuyerTally.objects.get()

    assert (tally.units, tally.limit) == (3, 3)


def test_a_row_that_only_replays_touched_is_not_written() -> None:
    """A replay changes nothing: not even a version."""
    open_sale("tee", total=9)
    command = wants("tee")
    place(command)
    version = Stock.objects.get().version

    placing.place([command, PlaceOrder("ann", command.request_id, merge_lines([("tee", 7)]))])

    assert Stock.objects.get().version == version
