"""POST /orders/: every row of the contract that ends in a refusal, and that a refusal leaves no trace."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from inventory.models import Product, Stock, StockMovement
from orders.models import BuyerTally, Order
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _on_sale() -> None:
    shop.open_sale("tee", stock=3)


def test_sold_out_says_what_is_left_per_line(api: MakeClient) -> None:
    """O01: two buyers want two of three; the second is refused whole, and told what there is."""
    shop.open_sale("cap", stock=9)
    shop.buy(api("ann"), shop.basket("tee", 2))
    lines = [{"product": "tee", "quantity": 2}, {"product": "cap", "quantity": 1}]

    answer = shop.buy(api("bob"), {"request_id": "r-1", "lines": lines})

    assert shop.refusal(answer) == (409, "sold_out")
    assert answer.json()["lines"] == [{"product": "cap", "available": 9}, {"product": "tee", "available": 1}]
    assert Stock.objects.get(product__sku="cap").available == 9


def test_what_is_only_held_may_come_back(api: MakeClient) -> None:
    """`retryable`, and when to come back: a hold may end."""
    shop.buy(api("ann"), shop.basket("tee", 3))

    answer = shop.buy(api("bob"), shop.basket("tee"))

    assert shop.refusal(answer) == (409, "sold_out")
    assert answer.json()["retryable"] is True
    assert int(answer["Retry-After"]) > 0


def test_what_is_gone_for_good_does_not_come_back(api: MakeClient) -> None:
    """Nothing is held: asking again only costs."""
    shop.open_sale("coupon", stock=1, price="0.00")
    shop.buy(api("ann"), shop.basket("coupon"))

    answer = shop.buy(api("bob"), shop.basket("coupon"))

    assert shop.refusal(answer) == (409, "sold_out")
    assert answer.json()["retryable"] is False
    assert "Retry-After" not in answer


def test_two_lines_of_one_product_are_refused_together(api: MakeClient) -> None:
    """O03: 2 and 2 of three are four, not twice two."""
    lines = [{"product": "tee", "quantity": 2}, {"product": "tee", "quantity": 2}]

    assert shop.refusal(shop.buy(api("ann"), {"request_id": "r-1", "lines": lines})) == (409, "sold_out")


def test_the_limit_holds_over_all_orders_of_a_buyer(api: MakeClient) -> None:
    """O15: one and one, and the third is refused, whatever its request_id; another buyer has a limit of his own."""
    Product.objects.filter(sku="tee").update(limit_per_buyer=2)
    for _ in range(2):
        assert shop.buy(api("ann"), shop.basket("tee")).status_code == 201

    answer = shop.buy(api("ann"), shop.basket("tee"))

    assert shop.refusal(answer) == (409, "purchase_limit")
    assert (answer.json()["product"], answer.json()["limit"], answer.json()["owned"]) == ("tee", 2, 2)
    assert shop.buy(api("bob"), shop.basket("tee")).status_code == 201


def test_before_it_opens_a_buyer_is_told_when(api: MakeClient) -> None:
    """O19: refused, and nothing taken."""
    opens_at = datetime.now(UTC) + HOUR
    Product.objects.filter(sku="tee").update(opens_at=opens_at)

    answer = shop.buy(api("ann"), shop.basket("tee"))

    assert shop.refusal(answer) == (409, "sale_not_open")
    assert datetime.fromisoformat(answer.json()["opens_at"]) == opens_at
    assert answer.json()["closes_at"] is None
    assert 3500 < int(answer["Retry-After"]) <= 3601


def test_after_it_closes_there_is_no_coming_back(api: MakeClient) -> None:
    """No Retry-After: there is nothing to wait for."""
    Product.objects.filter(sku="tee").update(closes_at=datetime.now(UTC) - HOUR)

    answer = shop.buy(api("ann"), shop.basket("tee"))

    assert shop.refusal(answer) == (409, "sale_not_open")
    assert "Retry-After" not in answer


@pytest.mark.parametrize("sku", ["cap", "withdrawn"])
def test_what_is_not_on_sale_is_an_unknown_product(sku: str, api: MakeClient) -> None:
    """Unknown and withdrawn look alike."""
    shop.open_sale("withdrawn", active=False)

    answer = shop.buy(api("ann"), shop.basket(sku))

    assert shop.refusal(answer) == (400, "unknown_product")
    assert answer.json()["product"] == sku


def test_a_changed_price_is_named(api: MakeClient) -> None:
    """The buyer learns what it costs now, and has bought nothing."""
    answer = shop.buy(api("ann"), shop.basket("tee", 2, expected_total="39.79"))

    assert shop.refusal(answer) == (409, "price_changed")
    assert (answer.json()["total"], answer.json()["currency"]) == ("39.80", "EUR")


def test_an_order_has_one_currency(api: MakeClient) -> None:
    """There is no sum of euros and francs."""
    shop.open_sale("chocolate", currency="CHF")
    lines = [{"product": sku, "quantity": 1} for sku in ("tee", "chocolate")]

    assert shop.pointers(shop.buy(api("ann"), {"request_id": "r-1", "lines": lines})) == ["/lines"]


def test_the_first_of_several_refusals_is_told(api: MakeClient) -> None:
    """The contract's order: unknown product, window, limit, stock, price."""
    body = shop.basket("tee", 4, expected_total="1.00")
    closed = {"active": False, "closes_at": datetime.now(UTC) - HOUR, "limit_per_buyer": 2}
    Product.objects.filter(sku="tee").update(**closed)
    told = []
    for mended in ({}, {"active": True}, {"closes_at": None}, {"limit_per_buyer": None}):
        Product.objects.filter(sku="tee").update(**mended)
        told.append(shop.refusal(shop.buy(api("ann"), body))[1])
    told.append(shop.refusal(shop.buy(api("ann"), shop.basket("tee", 3, expected_total="1.00")))[1])

    assert told == ["unknown_product", "sale_not_open", "purchase_limit", "sold_out", "price_changed"]


@pytest.mark.parametrize(
    "body",
    [
        shop.basket("tee", 4),
        shop.basket("cap"),
        shop.basket("tee", expected_total="1.00"),
        shop.basket("tee", 0),
        {"lines": [{"product": "tee", "quantity": 1}]},
    ],
)
def test_a_refusal_leaves_no_trace(body: dict[str, Any], api: MakeClient) -> None:
    """Nothing in stock, limits or the ledger; the same request succeeds once it is put right."""
    before = Stock.objects.values().get(product__sku="tee")

    assert 400 <= shop.buy(api("ann"), body).status_code < 500

    assert Stock.objects.values().get(product__sku="tee") == before
    assert StockMovement.objects.filter(kind="placed").count() == Order.objects.count() == 0
    assert BuyerTally.objects.count() == 0
    assert shop.buy(api("ann"), shop.basket("tee", request_id=body.get("request_id", "r-1"))).status_code == 201


def test_a_full_lane_is_busy(api: MakeClient, settings: Settings) -> None:
    """503 at once, with the promise that nothing was done."""
    settings.PLACING_LANE_MAX = 0

    answer = shop.buy(api("ann"), shop.basket("tee"))

    assert shop.refusal(answer) == (503, "busy")
    assert answer.json()["retryable"] is True
    assert answer["Retry-After"] == "1"
    assert Order.objects.count() == 0


def test_a_broken_transaction_tells_nothing_and_leaves_the_retry_free(api: MakeClient) -> None:
    """I03 and I15: its last statement fails, in a way that nobody foresaw; the same request succeeds afterwards."""
    basket = shop.basket("tee")

    with broken_stock():
        broken = shop.buy(api("ann"), basket)

    assert shop.refusal(broken) == (500, "internal_error")
    assert b"secret" not in broken.content
    assert Order.objects.count() == 0
    assert shop.buy(api("ann"), basket).status_code == 201
    assert Stock.objects.get(product__sku="tee").available == 2


@contextmanager
def broken_stock() -> Iterator[None]:
    """Let every change of a stock row fail inside the block."""
    with connection.cursor() as cursor:
        cursor.execute(BREAK_STOCK)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION broken CASCADE")


BREAK_STOCK = """
    CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'a secret of the database'; END $$;
    CREATE TRIGGER broken BEFORE UPDATE ON inventory_stock FOR EACH ROW EXECUTE FUNCTION broken();
"""
