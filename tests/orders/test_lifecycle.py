"""Cancelling: units and limits come back once, whoever asks how often."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection
from uuid_utils.compat import uuid7

from inventory.models import Stock, StockMovement
from orders import lifecycle, placing
from orders.models import BuyerTally, Order
from orders.outcomes import Placed
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_SECONDS = 20


def place(lines: str | dict[str, int], *, buyer: str = "ann") -> UUID:
    """Place an order, and give its id."""
    [outcome] = placing.place([wants(lines, buyer=buyer)])
    assert isinstance(outcome, Placed)
    return outcome.order.id


def test_a_cancelled_order_gives_its_units_back() -> None:
    """All lines return, each by a movement that names the order."""
    open_sale("tee", total=5)
    open_sale("cap", total=5)
    order = place({"tee": 2, "cap": 1})

    assert lifecycle.cancel([order], actor="staff", note="by phone") == 1

    assert sorted(Stock.objects.values_list("available", "held")) == [(5, 0), (5, 0)]
    returned = StockMovement.objects.filter(kind="returned", order_id=order)
    assert sorted(returned.values_list("delta", "note")) == [(1, "by phone"), (2, "by phone")]
    assert Order.objects.get().status == Order.Status.CANCELLED
    prove()


def test_a_second_cancel_changes_nothing() -> None:
    """A repeat finds no live order."""
    open_sale("tee", total=5)
    order = place("tee")

    assert [lifecycle.cancel([order], actor="staff") for _ in range(2)] == [1, 0]

    assert Stock.objects.get().available == 5
    prove("tee")


def test_cancels_at_the_same_time_return_the_units_once() -> None:
    """Eight threads cancel one order: one of them does."""
    open_sale("tee", total=5)
    order = place({"tee": 3})
    barrier = Barrier(8, timeout=WAIT_SECONDS)

    def cancel() -> int:
        barrier.wait()
        try:
            return lifecycle.cancel([order], actor="staff")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        done = [future.result(WAIT_SECONDS) for future in [threads.submit(cancel) for _ in range(8)]]

    assert sorted(done) == [0, 0, 0, 0, 0, 0, 0, 1]
    assert Stock.objects.get().available == 5
    prove("tee")


def test_a_cancel_gives_the_limit_back() -> None:
    """O15: limit 2 over all orders: 1 + 1 succeed, the third fails; after a cancel one more succeeds."""
    open_sale("tee", total=5, limit_per_buyer=2)
    first = place("tee")
    place("tee")
    refused = [told(outcome) for outcome in placing.place([wants("tee")])]

    lifecycle.cancel([first], actor="staff")
    placed = [told(outcome) for outcome in placing.place([wants("tee"), wants("tee")])]

    assert (refused, placed) == (["purchase_limit"], ["placed", "purchase_limit"])
    assert BuyerTally.objects.get().units == 2
    prove("tee")


def test_a_confirmed_order_was_not_held() -> None:
    """A free order leaves the units held by others alone."""
    open_sale("coupon", total=5, price="0.00")
    order = place({"coupon": 2})

    lifecycle.cancel([order], actor="staff")

    assert Stock.objects.values_list("available", "held").get() == (5, 0)
    prove("coupon")


def test_an_unknown_order_is_not_cancelled() -> None:
    """There is nothing to give back."""
    assert lifecycle.cancel([uuid7()], actor="staff") == 0


def test_a_replay_after_a_cancel_is_the_same_order() -> None:
    """The request keeps its order, whatever became of it."""
    open_sale("tee", total=1)
    command = wants("tee", request_id="one")
    [first] = placing.place([command])
    assert isinstance(first, Placed)
    lifecycle.cancel([first.order.id], actor="staff")

    [again] = placing.place([command])

    assert isinstance(again, Placed)
    assert (again.replayed, again.order.id, again.order.status) == (True, first.order.id, "cancelled")
    assert Stock.objects.get().available == 1
