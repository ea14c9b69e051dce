"""Placing: what a batch of requests comes to, in PostgreSQL."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.utils import timezone

from inventory import services
from inventory.models import Stock, StockMovement
from orders import lifecycle, placing
from orders.command import PlaceOrder
from orders.models import BuyerTally, Order
from orders.outcomes import Placed, PlacedOrder
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


def place(*commands: PlaceOrder) -> list[str]:
    """Place a batch, and say what each buyer is told."""
    return [told(outcome) for outcome in placing.place(commands)]


def order_of(command: PlaceOrder) -> PlacedOrder:
    """Place one order, and give it."""
    [outcome] = placing.place([command])
    assert isinstance(outcome, Placed)
    return outcome.order


def available(sku: str = "tee") -> int:
    """Give the units that can be bought."""
    return Stock.objects.get(product__sku=sku).available


# --- Once ---------------------------------------------------------------------------------------


def test_repeating_a_request_returns_the_first_order() -> None:
    """Promise 2: the same order, for ever, with units taken once."""
    open_sale(total=5)
    command = wants("tee")

    first = order_of(command)

    assert placing.place([command]) == [Placed(first, replayed=True)]
    assert available() == 4
    prove()


def test_another_buyer_with_the_same_request_id_gets_an_order_of_his_own() -> None:
    """I01: a request id belongs to its buyer."""
    open_sale(total=5)

    codes = place(wants("tee", buyer="ann", request_id="one"), wants("tee", buyer="bob", request_id="one"))

    assert codes == ["placed", "placed"]


def test_a_request_id_with_other_content_is_refused() -> None:
    """Another quantity, and another product, are another request."""
    open_sale("tee", total=5)
    open_sale("cup", total=5)
    place(wants("tee", request_id="one"))

    assert place(wants({"tee": 2}, request_id="one"), wants("cup", request_id="one")) == ["request_id_reused"] * 2
    assert (available("tee"), available("cup")) == (4, 5)


def test_a_replay_outlives_product_and_stock() -> None:
    """I05: withdrawn and sold out since the first answer; the order stands."""
    open_sale(total=1)
    command = wants("tee")
    first = order_of(command)
    services.update_product(sku="tee", active=False)

    assert placing.place([command]) == [Placed(first, replayed=True)]


def test_a_replay_shows_the_price_of_its_day() -> None:
    """The price is fixed at placing; a new order pays the new one."""
    open_sale(total=5, price="19.90")
    command = wants("tee")
    order_of(command)
    services.update_product(sku="tee", price=Decimal("25.00"))

    assert order_of(command).total == Decimal("19.90")
    assert order_of(wants("tee")).total == Decimal("25.00")
    prove()


def test_equal_requests_in_one_batch_make_one_order() -> None:
    """All of them get it, in one transaction."""
    open_sale(total=5)

    codes = place(*[wants("tee", request_id="one")] * 4)

    assert codes == ["placed", "replayed", "replayed", "replayed"]
    assert Order.objects.count() == 1
    prove()


# --- All or nothing -----------------------------------------------------------------------------


def test_a_line_that_is_sold_out_leaves_the_others_as_they_were() -> None:
    """O10: line 3 of 5 is sold out; stock, limits and ledger of the others are untouched."""
    for sku in "abcde":
        open_sale(sku, total=0 if sku == "c" else 2, limit_per_buyer=1)
    entries = StockMovement.objects.count()

    assert place(wants(dict.fromkeys("abcde", 1))) == ["sold_out"]

    assert [available(sku) for sku in "abcde"] == [2, 2, 0, 2, 2]
    assert not BuyerTally.objects.exists()
    assert StockMovement.objects.count() == entries
    assert place(wants(dict.fromkeys("abde", 1))) == ["placed"]


def test_lines_of_one_product_are_added_up() -> None:
    """O03: 10 and 5 take 15; 3 and 3 of 5 are refused whole."""
    open_sale("tee", total=15)
    open_sale("cup", total=5)

    assert place(wants({"tee": 10 + 5}), wants({"cup": 3 + 3})) == ["placed", "sold_out"]
    assert (available("tee"), available("cup")) == (0, 5)


def test_a_batch_may_come_to_anything_at_once() -> None:
    """Each command has its own outcome, in its own place."""
    open_sale("tee", total=3, limit_per_buyer=2)
    open_sale("late", total=3, closes_at=timezone.now() - timedelta(hours=1))
    placed = wants("tee", buyer="old")
    place(placed)

    codes = place(
        wants("tee", buyer="bob"),
        placed,
        wants({"tee": 3}, buyer="cleo"),
        wants("late"),
        wants("none"),
        wants({"tee": 2}, buyer="dan"),
        wants("tee", buyer="eve"),
        wants("tee", buyer="fay"),
    )

    assert codes == [
        "placed",
        "replayed",
        "purchase_limit",
        "sale_not_open",
        "unknown_product",
        "sold_out",
        "placed",
        "sold_out",
    ]
    prove()


def test_an_empty_batch_has_no_outcomes() -> None:
    """Nothing comes of nothing."""
    assert placing.place([]) == []


# --- Limits -------------------------------------------------------------------------------------


def test_a_limit_holds_over_all_orders_and_comes_back_with_a_cancel() -> None:
    """O15: 1 + 1 succeed, the third fails; after a cancel one more succeeds."""
    open_sale(total=9, limit_per_buyer=2)
    first = order_of(wants("tee"))

    codes = place(wants("tee"), wants("tee"))
    lifecycle.cancel([first.id], actor="ann")

    assert codes == ["placed", "purchase_limit"]
    assert place(wants("tee"), wants("tee")) == ["placed", "purchase_limit"]
    prove()


def test_a_lowered_limit_takes_nothing_from_who_has_more() -> None:
    """O26: from 5 to 2 while a buyer holds 4: he buys no more, may cancel one, and keeps the rest."""
    open_sale(total=9, limit_per_buyer=5)
    one = order_of(wants("tee"))
    place(wants({"tee": 3}))
    services.update_product(sku="tee", limit_per_buyer=2)

    assert place(wants("tee")) == ["purchase_limit"]
    assert lifecycle.cancel([one.id], actor="ann") == 1
    assert place(wants("tee")) == ["purchase_limit"]
    assert BuyerTally.objects.get().units == 3
    prove()


# --- Windows, holds, and what is free -----------------------------------------------------------


def test_a_sale_opens_by_the_clock_of_the_database() -> None:
    """O19: before it opens a request takes nothing; the same request succeeds afterwards."""
    open_sale(total=5, opens_at=timezone.now() + timedelta(hours=1))
    command = wants("tee")

    early = place(command)
    services.update_product(sku="tee", opens_at=timezone.now() - timedelta(hours=1))

    assert early == ["sale_not_open"]
    assert place(command) == ["placed"]


def test_an_order_is_held_by_its_shortest_hold() -> None:
    """The hold is counted from the moment of placing, which is the order's `created_at`."""
    open_sale("tee", total=5, hold_seconds=60)
    open_sale("cup", total=5, hold_seconds=None)

    order = order_of(wants({"tee": 1, "cup": 1}))

    assert order.expires_at == order.created_at + timedelta(seconds=60)


def test_a_free_order_is_confirmed_and_not_held() -> None:
    """A coupon is had at once."""
    open_sale(total=5, price="0.00")

    order = order_of(wants({"tee": 2}))

    assert (order.status, order.confirmed_at) == ("confirmed", order.created_at)
    assert Stock.objects.get().held == 0
    prove()


# --- The connection -----------------------------------------------------------------------------


def test_nobody_holds_a_connection_after_placing() -> None:
    """It is back in the pool before the outcomes are told."""
    open_sale(total=5)
    place(wants("tee"))

    assert connection.connection is None
