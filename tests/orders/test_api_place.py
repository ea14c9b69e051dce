"""POST /orders/: what is placed, what is repeated, and what it costs."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Stock
from orders import placing
from orders.command import PlaceOrder, merge_lines
from orders.models import Order
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db(transaction=True)

MEMBERS = [
    "id",
    "request_id",
    "buyer",
    "status",
    "lines",
    "total",
    "currency",
    "created_at",
    "expires_at",
    "confirmed_at",
    "cancelled_at",
    "expired_at",
]


def test_an_order_is_placed(api: MakeClient) -> None:
    """201, its address, and nothing that says it was there before."""
    shop.open_sale("tee", stock=5)

    answer = shop.buy(api("ann"), shop.basket("tee", 2))

    assert answer.status_code == 201
    assert answer["Location"] == f"/api/v1/orders/{answer.json()['id']}/"
    assert answer["Cache-Control"] == "no-store"
    assert "Idempotent-Replayed" not in answer
    assert Stock.objects.get(product__sku="tee").available == 3


def test_the_document_is_that_of_the_contract(api: MakeClient) -> None:
    """Members, their order, money as decimal strings, times in UTC."""
    shop.open_sale("tee", price="19.90", hold_seconds=900)

    order = shop.buy(api("ann"), shop.basket("tee", 2, request_id="r-1")).json()

    assert list(order) == MEMBERS
    assert order["lines"] == [{"product": "tee", "quantity": 2, "unit_price": "19.90"}]
    assert (order["buyer"], order["request_id"], order["status"]) == ("ann", "r-1", "reserved")
    assert (order["total"], order["currency"]) == ("39.80", "EUR")
    assert uuid.UUID(order["id"]).version == 7
    assert order["created_at"].endswith("Z")
    assert read(order["expires_at"]) - read(order["created_at"]) == timedelta(seconds=900)
    assert order["confirmed_at"] is order["cancelled_at"] is order["expired_at"] is None


def test_what_is_free_is_confirmed_at_once(api: MakeClient) -> None:
    """Coupons and sign-ups wait for no payment, so their hold has no end."""
    shop.open_sale("coupon", price="0.00")

    order = shop.buy(api("ann"), shop.basket("coupon")).json()

    assert (order["status"], order["total"], order["expires_at"]) == ("confirmed", "0.00", None)
    assert order["confirmed_at"] == order["created_at"]


def test_repeating_a_request_returns_its_order(api: MakeClient) -> None:
    """The same bytes, and one order, however often."""
    shop.open_sale("tee", stock=5)
    basket = shop.basket("tee", 2)

    first = shop.buy(api("ann"), basket)
    again = [shop.buy(api("ann"), basket) for _ in range(3)]

    assert [answer.status_code for answer in again] == [201] * 3
    assert {answer.content for answer in again} == {first.content}
    assert {answer["Idempotent-Replayed"] for answer in again} == {"true"}
    assert {answer["Location"] for answer in again} == {first["Location"]}
    assert Stock.objects.get(product__sku="tee").available == 3


def test_an_order_looks_the_same_wherever_it_is_shown(api: MakeClient) -> None:
    """New, repeated, alone and in a list: the same bytes, lines sorted by code point and not as a language sorts."""
    skus = ["Zebra", "a-b", "a.b", "aB", "ab", "_x", "1"]
    for sku in skus:
        shop.open_sale(sku)
    body = {"request_id": "r-1", "lines": [{"product": sku, "quantity": 1} for sku in skus]}

    new, again = shop.buy(api("ann"), body), shop.buy(api("ann"), body)

    assert [line["product"] for line in new.json()["lines"]] == sorted(skus)
    assert again.content == new.content
    assert api("ann").get(new["Location"]).content == new.content
    assert api("ann").get(shop.ORDERS).content == b'{"next":null,"results":[' + new.content + b"]}"


def test_lines_split_and_reordered_are_the_same_request(api: MakeClient) -> None:
    """O03 and I07: two lines of one product count together."""
    shop.open_sale("a", stock=5)
    shop.open_sale("b", stock=5)
    together = [{"product": "a", "quantity": 3}, {"product": "b", "quantity": 1}]
    split = [{"product": "b", "quantity": 1}, {"product": "a", "quantity": 1}, {"quantity": 2, "product": "a"}]

    first = shop.buy(api("ann"), {"request_id": "r-1", "lines": together})
    again = shop.buy(api("ann"), {"request_id": "r-1", "lines": split})

    assert again.content == first.content
    assert Stock.objects.get(product__sku="a").available == 2


def test_the_hot_path_asks_the_database_for_nothing_but_the_batch(api: MakeClient) -> None:
    """No query for the token, the throttle, the product or the answer: exactly those of `place`."""
    shop.open_sale("tee")
    shop.buy(api("ann"), shop.basket("tee"))

    with CaptureQueriesContext(connection) as captured:
        assert shop.buy(api("bob"), shop.basket("tee")).status_code == 201
        by_http = statements(captured)
    with CaptureQueriesContext(connection) as captured:
        placing.place([PlaceOrder("cleo", "r-1", merge_lines([("tee", 1)]))])
        by_hand = statements(captured)

    assert by_http == by_hand
    assert len(by_http) >= 9


def test_the_price_that_was_expected_is_kept(api: MakeClient) -> None:
    """Written with or without the last zero."""
    shop.open_sale("tee", price="19.90")

    assert shop.buy(api("ann"), shop.basket("tee", expected_total="19.90")).status_code == 201
    assert shop.buy(api("ann"), shop.basket("tee", expected_total="19.9")).status_code == 201


def test_a_backend_may_order_for_a_buyer(api: MakeClient) -> None:
    """With the scope the order is the buyer's: he finds it, and the backend's own list stays empty."""
    shop.open_sale("tee")

    answer = shop.buy(api("shop", "orders:any-buyer"), shop.basket("tee", buyer="Ünï 🦊"))

    assert answer.json()["buyer"] == "Ünï 🦊"
    assert api("Ünï 🦊").get(answer["Location"]).content == answer.content
    assert api("shop").get(shop.ORDERS).json()["results"] == []


def test_a_preference_for_a_later_answer_is_ignored(api: MakeClient) -> None:
    """RFC 7240 allows it: the answer is synchronous, and does not say otherwise."""
    shop.open_sale("tee")

    answer = shop.buy(api("ann"), shop.basket("tee"), Prefer="respond-async")

    assert answer.status_code == 201
    assert "Preference-Applied" not in answer


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/*;q=0", "nonsense"])
def test_an_order_is_not_lost_to_a_header(accept: str, api: MakeClient) -> None:
    """There is one form of the answer, whatever the caller would have liked."""
    shop.open_sale("tee")

    answer = shop.buy(api("ann"), shop.basket("tee"), Accept=accept)

    assert (answer.status_code, answer["Content-Type"]) == (201, "application/json")


def test_a_hold_without_an_end_has_none(api: MakeClient) -> None:
    """An order of several products is held as long as the shortest of their holds."""
    shop.open_sale("for-ever", hold_seconds=None)
    shop.open_sale("minute", hold_seconds=60)
    both = {"request_id": "r-1", "lines": [{"product": sku, "quantity": 1} for sku in ("for-ever", "minute")]}

    alone, order = (shop.buy(api("ann"), body).json() for body in (shop.basket("for-ever"), both))

    assert alone["expires_at"] is None
    assert read(order["expires_at"]) - read(order["created_at"]) == timedelta(seconds=60)
    assert Order.objects.count() == 2


def statements(captured: CaptureQueriesContext) -> list[str]:
    """List how the statements begin; their values differ."""
    return [" ".join(query["sql"].split()[:2]) for query in captured.captured_queries]


def read(time: str) -> datetime:
    """Read a time in UTC."""
    return datetime.fromisoformat(time).astimezone(UTC)
