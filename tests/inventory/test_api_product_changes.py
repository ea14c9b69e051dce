"""Products, made and changed by staff: what is refused, and that no number of stock is ever typed over."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client

from inventory.models import Product, Stock
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db

TEE = f"{shop.PRODUCTS}tee/"
RACE_SECONDS = 30.0
NEW = {"sku": "tee", "name": "Red tee", "price": "19.90"}


@pytest.fixture
def staff(api: MakeClient) -> Client:
    """Give a client that may write stock."""
    return api("staff001", "stock:write")


def test_staff_create_a_product(staff: Client) -> None:
    """201, its address, an empty stock, and what is usual for what is left out."""
    answer = shop.post(staff, shop.PRODUCTS, NEW)

    assert (answer.status_code, answer["Location"]) == (201, TEE)
    assert staff.get(TEE).content == answer.content
    assert staff.get(TEE)["ETag"] == answer["ETag"]
    assert {name: answer.json()[name] for name in ("limit", "hold_seconds", "currency", "available", "active")} == {
        "limit": 1,
        "hold_seconds": 900,
        "currency": "EUR",
        "available": 0,
        "active": True,
    }


def test_a_product_says_what_staff_said(staff: Client) -> None:
    """Every member, times in any zone, and null where something has no bound."""
    body = NEW | {
        "description": "Organic.\nWash at 30 °C.",
        "currency": "CHF",
        "limit": None,
        "hold_seconds": None,
        "opens_at": "2030-05-01T20:00:00+02:00",
        "closes_at": "2030-05-02T18:00:00Z",
        "admission": "lock",
        "active": False,
    }

    answer = shop.post(staff, shop.PRODUCTS, body)

    assert answer.status_code == 201
    assert answer.json() == body | {"opens_at": "2030-05-01T18:00:00Z", "available": 0, "held": 0}


def test_a_sku_is_taken_once(staff: Client) -> None:
    """409, and the product is as it was."""
    shop.open_sale("tee", name="First")

    assert shop.refusal(shop.post(staff, shop.PRODUCTS, NEW)) == (409, "sku_taken")
    assert Product.objects.get().name == "First"


@pytest.mark.django_db(transaction=True)
def test_of_two_who_create_a_product_at_once_one_is_told(api: MakeClient) -> None:
    """The constraint decides, and its error is an answer: 201 and 409, never 500."""
    barrier = threading.Barrier(8)

    def create(number: int) -> int:
        client = api(f"staff{number}", "stock:write")
        barrier.wait(RACE_SECONDS)
        status: int = shop.post(client, shop.PRODUCTS, NEW).status_code
        return status

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(create, range(8), timeout=RACE_SECONDS))

    assert statuses == [201] + [409] * 7


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("sku", "a b"),
        ("sku", ""),
        ("sku", "x" * 65),
        ("sku", "tee\n"),
        ("name", ""),
        ("name", "  "),
        ("name", "a\u0000b"),
        ("name", "a\nb"),
        ("name", "x" * 201),
        ("description", "a\u0000b"),
        ("description", "x" * 10_001),
        ("price", 19.9),
        ("price", 20),
        ("price", "19,90"),
        ("price", "-1"),
        ("price", "19.901"),
        ("price", "1e3"),
        ("price", "NaN"),
        ("price", "12345678901"),
        ("price", "19.90\n"),
        ("price", "\u0661"),
        ("currency", "eur"),
        ("currency", "EURO"),
        ("limit", 0),
        ("limit", -1),
        ("limit", 1.5),
        ("limit", 2**31),
        ("hold_seconds", 0),
        ("hold_seconds", "900"),
        ("opens_at", "2030-05-01"),
        ("opens_at", "2030-05-01T18:00:00"),
        ("opens_at", 0),
        ("opens_at", "0001-01-01T00:00:00+01:00"),
        ("closes_at", "9999-12-31T23:59:59-01:00"),
        ("admission", "gate!"),
        ("active", "yes"),
        ("available", 5),
        ("held", 0),
        ("limit_per_buyer", 1),
    ],
)
def test_a_pointer_leads_to_what_is_wrong(member: str, value: object, staff: Client) -> None:
    """In a new product and in a change alike; stock is no member of either."""
    assert shop.pointers(shop.post(staff, shop.PRODUCTS, NEW | {member: value})) == [f"/{member}"]
    shop.open_sale("tee")
    assert shop.pointers(shop.patch(staff, TEE, {member: value})) == [f"/{member}"]
    assert Product.objects.count() == 1


@pytest.mark.parametrize("missing", ["sku", "name", "price"])
def test_a_product_needs_a_sku_a_name_and_a_price(missing: str, staff: Client) -> None:
    """Everything else has a value that is usual."""
    body = {name: value for name, value in NEW.items() if name != missing}

    assert shop.pointers(shop.post(staff, shop.PRODUCTS, body)) == [f"/{missing}"]


def test_a_sale_closes_after_it_opens(staff: Client) -> None:
    """Also where only one end is moved."""
    window = {"opens_at": "2030-05-01T18:00:00Z", "closes_at": "2030-05-01T18:00:00Z"}

    assert shop.pointers(shop.post(staff, shop.PRODUCTS, NEW | window)) == ["/closes_at"]
    assert shop.post(staff, shop.PRODUCTS, NEW | {"opens_at": window["opens_at"]}).status_code == 201
    assert shop.pointers(shop.patch(staff, TEE, {"closes_at": "2029-05-01T18:00:00Z"})) == ["/closes_at"]


@pytest.mark.django_db(transaction=True)
def test_a_change_leaves_alone_what_it_does_not_name(staff: Client, api: MakeClient) -> None:
    """O11: units are sold while staff edit the name; the stock stays as sold."""
    shop.open_sale("tee", stock=5)
    shop.buy(api("ann"), shop.basket("tee", 2))
    stock = Stock.objects.values().get()

    answer = shop.patch(staff, TEE, {"name": "Blue tee"})

    assert answer.status_code == 200
    assert (answer.json()["name"], answer.json()["price"]) == ("Blue tee", "19.90")
    assert (answer.json()["available"], answer.json()["held"]) == (3, 2)
    assert Stock.objects.values().get() == stock


@pytest.mark.parametrize("changes", [{}, {"limit": None}, {"opens_at": None}, {"price": "5", "active": False}])
def test_a_change_is_what_it_says(changes: dict[str, Any], staff: Client) -> None:
    """Null is a value, and nothing is nothing."""
    shop.open_sale("tee", limit_per_buyer=3)
    before = staff.get(TEE).json()

    answer = shop.patch(staff, TEE, changes)

    price = {"price": "5.00"} if "price" in changes else {}
    assert answer.json() == before | changes | price
    assert staff.get(TEE).content == answer.content


def test_a_change_may_ask_that_nothing_else_has_changed(staff: Client) -> None:
    """If-Match is not needed, but heeded."""
    shop.open_sale("tee")
    etag = staff.get(TEE)["ETag"]

    first = shop.patch(staff, TEE, {"name": "A"}, If_Match=etag)
    second = shop.patch(staff, TEE, {"name": "B"}, If_Match=etag)

    assert first.status_code == 200
    assert shop.refusal(second) == (412, "precondition_failed")
    assert shop.patch(staff, TEE, {"name": "C"}, If_Match=first["ETag"]).status_code == 200
    assert shop.patch(staff, TEE, {"name": "D"}, If_Match="*").status_code == 200
    assert shop.pointers(shop.patch(staff, TEE, {"name": "E"}, If_Match="nonsense")) == ["If-Match"]
    assert Product.objects.get().name == "D"


def test_products_are_changed_by_staff_alone(api: MakeClient, client: Client) -> None:
    """401 without a token, 403 without the scope, before anything of the body or the product is told."""
    strangers = ((client, (401, "not_authenticated")), (api("ann", "orders:any-buyer"), (403, "permission_denied")))
    for stranger, told in strangers:
        assert shop.refusal(shop.post(stranger, shop.PRODUCTS, b"{")) == told
        assert shop.refusal(shop.patch(stranger, TEE, b"{")) == told
