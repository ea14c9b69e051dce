"""Orders in the admin: to read, found by index, and bounded."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from orders import lifecycle, placing
from orders.models import BuyerTally, Order, OrderLine
from tests.races.sale import open_sale, wants
from tests.staff import shown, sign_in

pytestmark = pytest.mark.django_db(transaction=True)

ORDERS = "/admin/orders/order/"
LINES = "/admin/orders/orderline/"
TALLIES = "/admin/orders/buyertally/"


@pytest.fixture
def staff() -> Client:
    """Sign in as the shop's staff."""
    return sign_in()


def sell() -> None:
    """Sell two products to ann, and one to bob, who cancels."""
    open_sale("tee", total=9, limit_per_buyer=3)
    open_sale("cap", total=9, price="0")
    placing.place([wants({"tee": 2, "cap": 1}, buyer="ann", request_id="ann-1")])
    placing.place([wants({"tee": 1}, buyer="bob", request_id="bob-1")])
    placing.place([wants({"cap": 1}, buyer="ann", request_id="ann-2")])
    lifecycle.cancel([order_of("bob-1")], actor="staff")


def order_of(request_id: str) -> UUID:
    """Give the id of a request's order."""
    return Order.objects.get(request_id=request_id).id


def found(staff: Client, path: str = ORDERS, **query: str) -> list[str]:
    """Give the requests whose orders a list shows."""
    rows = shown(staff.get(path, query))
    return [(row if path == ORDERS else row.order).request_id for row in rows]


def test_the_newest_order_comes_first(staff: Client) -> None:
    """With what was ordered, for how much, and how it stands."""
    sell()

    assert found(staff) == ["ann-2", "bob-1", "ann-1"]
    text = staff.get(ORDERS).content.decode()
    assert "1 x cap, 2 x tee" in text
    assert "39.80 EUR" in text
    assert "badge-cancelled" in text


def test_orders_are_found_by_buyer_request_and_id(staff: Client) -> None:
    """By the whole of each, and by how an id begins."""
    sell()
    order_id = str(order_of("bob-1"))

    assert found(staff, q="ann") == ["ann-2", "ann-1"]
    assert found(staff, q="bob-1") == ["bob-1"]
    assert found(staff, q="ann ann-1") == ["ann-1"]
    assert found(staff, q=order_id) == ["bob-1"]
    assert found(staff, q=order_id[:-4]) == ["bob-1"]
    assert found(staff, q=order_id.replace("-", "")[:-4].upper()) == ["bob-1"]


@pytest.mark.parametrize("term", ["an", "ann bob-1", "0" * 8, "0" * 32, "%", "'", "🦊", "a b c", "x" * 5_000])
def test_what_is_not_there_finds_nothing(staff: Client, term: str) -> None:
    """A part of a name is no name, and no term breaks the page."""
    sell()

    assert found(staff, q=term) == []


def test_orders_are_filtered_by_status_product_and_time(staff: Client) -> None:
    """Filters add up."""
    sell()

    assert found(staff, status__exact="cancelled") == ["bob-1"]
    assert found(staff, product="tee") == ["bob-1", "ann-1"]
    assert found(staff, product="tee", status__exact="reserved") == ["ann-1"]
    assert found(staff, product="none") == []
    assert found(staff, last="15m") == ["ann-2", "bob-1", "ann-1"]


def test_a_span_of_time_is_exact_although_it_is_looked_for_by_id(staff: Client) -> None:
    """An id's time is that of another clock: it narrows the search, and the time of the order decides."""
    sell()
    start = timezone.now() - timedelta(minutes=5)
    Order.objects.filter(request_id="ann-1").update(created_at=start - timedelta(seconds=1))

    after = {"from": start.strftime("%Y-%m-%dT%H:%M:%S")}
    before = {"until": start.strftime("%Y-%m-%dT%H:%M:%S")}

    assert found(staff, **after) == ["ann-2", "bob-1"]
    assert found(staff, **before) == ["ann-1"]
    assert found(staff, **after, **before) == []


@pytest.mark.parametrize("query", [{"q": "ann"}, {"q": "ann ann-1"}, {"product": "tee"}, {"last": "1h"}])
def test_a_search_uses_no_pattern(staff: Client, query: dict[str, str]) -> None:
    """A pattern in the WHERE reads every row of a large table."""
    sell()

    with CaptureQueriesContext(connection) as queries:
        found(staff, **query)

    assert not [query for query in queries if "LIKE" in query["sql"] or "UPPER" in query["sql"]]


def test_an_order_shows_its_lines_and_its_times(staff: Client) -> None:
    """With links to its products and movements."""
    sell()
    order = Order.objects.get(request_id="ann-1")

    text = staff.get(f"{ORDERS}{order.id}/change/").content.decode()

    assert order.created_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") in text
    assert f"/admin/inventory/stockmovement/?q={order.id}" in text
    assert "19.90" in text
    assert ">tee</a>" in text


def test_a_hold_past_its_time_is_shown_as_over(staff: Client) -> None:
    """Its units are free for others, whether it was swept yet or not."""
    sell()
    Order.objects.filter(request_id="ann-1").update(expires_at=datetime(2020, 1, 1, tzinfo=UTC))

    assert "reserved, hold is over" in staff.get(ORDERS).content.decode()


def test_lines_are_found_by_order_and_product(staff: Client) -> None:
    """And filtered by product."""
    sell()

    assert found(staff, LINES, q=str(order_of("ann-1"))) == ["ann-1", "ann-1"]
    assert found(staff, LINES, q="tee") == ["bob-1", "ann-1"]
    assert found(staff, LINES, q="t") == []
    assert found(staff, LINES, product="cap") == ["ann-2", "ann-1"]


def test_tallies_are_found_by_buyer_and_product(staff: Client) -> None:
    """Units in live orders, and the limit of the last of them."""
    sell()

    def tallies(**query: str) -> list[tuple[str, str, int, int | None]]:
        rows = shown(staff.get(TALLIES, query))
        return [(tally.product.sku, tally.buyer, tally.units, tally.limit) for tally in rows]

    assert tallies(q="ann") == [("tee", "ann", 2, 3), ("cap", "ann", 2, None)]
    assert tallies(q="tee") == tallies(product="tee") == [("tee", "ann", 2, 3), ("tee", "bob", 0, 3)]
    assert tallies(q="an") == []


def test_orders_lines_and_tallies_are_to_read(staff: Client) -> None:
    """Nothing is added, changed or deleted, by nobody."""
    sell()
    for path, row in (
        (ORDERS, Order.objects.order_by("pk")[0]),
        (LINES, OrderLine.objects.order_by("pk")[0]),
        (TALLIES, BuyerTally.objects.order_by("pk")[0]),
    ):
        assert staff.get(f"{path}{row.pk}/change/").status_code == 200
        assert staff.get(f"{path}add/").status_code == 403
        assert staff.post(f"{path}{row.pk}/change/", {"status": "cancelled"}).status_code == 403
        assert staff.post(f"{path}{row.pk}/delete/", {"post": "yes"}).status_code == 403
        assert "_selected_action" not in staff.get(path).content.decode()


@pytest.mark.parametrize("key", ["none", "0" * 32, "7", "_00", "%00"])
def test_what_is_not_there_leads_back_to_the_start(staff: Client, key: str) -> None:
    """Also for what can be no key."""
    for path in (ORDERS, LINES, TALLIES):
        answer = staff.get(f"{path}{key}/change/")

        assert (answer.status_code, answer["Location"]) == (302, "/admin/")
