"""What staff see of products: states, units, numbers that add up, and no query per row."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory import services
from inventory.admin.reading import ROWS_PER_PAGE
from orders import lifecycle, placing
from orders.models import Order
from tests.races.sale import open_sale, wants
from tests.staff import PRODUCTS, page_of, shown, sign_in

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


@pytest.fixture
def staff() -> Client:
    """Sign in as the shop's staff."""
    return sign_in()


def open_one_of_each() -> None:
    """Make a product in every state."""
    now = timezone.now()
    open_sale("early", total=5, opens_at=now + HOUR)
    open_sale("going", total=5, opens_at=now - HOUR, closes_at=now + HOUR)
    open_sale("gone", total=1)
    placing.place([wants("gone")])
    open_sale("late", total=5, closes_at=now - HOUR)
    open_sale("shelved", total=5, active=False)


def numbers(product: Any) -> tuple[int, int, int, int, int]:  # a product with its overview
    """Give a product's units: available, held, sold, seeded, adjusted."""
    return product.available, product.held, product.sold, product.seeded, product.adjusted


def test_each_product_says_what_a_buyer_would_find(staff: Client) -> None:
    """Not open, on sale, sold out, closed, withdrawn."""
    open_one_of_each()

    states = {product.sku: product.state for product in shown(staff.get(PRODUCTS))}

    assert states == {
        "early": "not_open",
        "going": "on_sale",
        "gone": "sold_out",
        "late": "closed",
        "shelved": "withdrawn",
    }


@pytest.mark.parametrize(
    ("state", "sku"),
    [("not_open", "early"), ("on_sale", "going"), ("sold_out", "gone"), ("closed", "late"), ("withdrawn", "shelved")],
)
def test_products_are_filtered_by_state(staff: Client, state: str, sku: str) -> None:
    """The filter and the column are one rule."""
    open_one_of_each()

    assert [product.sku for product in shown(staff.get(PRODUCTS, {"state": state}))] == [sku]


def test_units_are_available_held_or_sold(staff: Client) -> None:
    """Reserved orders hold units, confirmed ones are sales, cancelled ones bring theirs back; all adds up."""
    open_sale("tee", total=10)
    open_sale("free", total=10, price="0")
    placing.place([wants({"tee": 2}), wants({"tee": 3}, buyer="bob"), wants({"free": 4})])
    lifecycle.cancel([Order.objects.get(buyer="bob").id], actor="staff")
    services.adjust(sku="tee", delta=-1, reason="torn", request_id="torn", actor="staff")

    rows = {product.sku: numbers(product) for product in shown(staff.get(PRODUCTS))}

    assert rows == {"free": (6, 0, 4, 10, 0), "tee": (7, 2, 0, 10, -1)}


def test_the_page_of_a_product_shows_its_stock_and_last_movements(staff: Client) -> None:
    """With links to its orders, lines, buyers and ledger."""
    open_sale("tee", total=1_234)
    placing.place([wants({"tee": 2})])

    page = staff.get(page_of("tee"))

    text = page.content.decode()
    assert "<dd>1,232</dd>" in text
    assert [entry.seq for entry in page.context["entries"]] == [2, 1]
    for path in ("orders/order", "orders/orderline", "orders/buyertally", "inventory/stockmovement"):
        assert f'href="/admin/{path}/?product=tee"' in text
        assert staff.get(f"/admin/{path}/?product=tee").status_code == 200


@pytest.mark.parametrize("path", [PRODUCTS, "/admin/orders/order/", "/admin/orders/orderline/"])
def test_a_list_asks_as_often_for_thirty_rows_as_for_one(staff: Client, path: str) -> None:
    """No query per row: the number of statements is fixed."""
    counts = []
    for number in range(30):
        placing.place([wants(open_sale(f"tee-{number}", total=5))])
        if number in (0, 29):
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert len(shown(staff.get(path))) == number + 1
            counts.append(len(queries))

    assert counts[0] == counts[1] <= 12


def test_a_page_has_a_bound(staff: Client) -> None:
    """Also for those who ask for all."""
    for number in range(ROWS_PER_PAGE + 1):
        open_sale(f"tee-{number}", total=0)

    assert len(shown(staff.get(PRODUCTS))) == ROWS_PER_PAGE
    assert len(shown(staff.get(PRODUCTS, {"all": ""}))) == ROWS_PER_PAGE
    assert len(shown(staff.get(PRODUCTS, {"p": "2"}))) == 1


@pytest.mark.parametrize(("term", "skus"), [("RED", ["tee-red"]), ("shirt", ["tee-blue"]), ("none", [])])
def test_products_are_found_by_a_part_of_sku_or_name(staff: Client, term: str, skus: list[str]) -> None:
    """Upper or lower case."""
    open_sale("tee-red", total=5)
    open_sale("tee-blue", total=5, name="A T-Shirt")

    assert [product.sku for product in shown(staff.get(PRODUCTS, {"q": term}))] == skus


def test_an_empty_shop_says_so(staff: Client) -> None:
    """And a search without a find leads back."""
    assert "Nothing is here yet." in staff.get(PRODUCTS).content.decode()
    assert "show everything" in staff.get(PRODUCTS, {"q": "tee"}).content.decode()


@pytest.mark.parametrize("column", range(9))
def test_every_column_can_be_clicked(staff: Client, column: int) -> None:
    """Sorting never breaks a list."""
    open_one_of_each()

    assert len(shown(staff.get(PRODUCTS, {"o": f"-{column}"}))) == 5
