"""Products: public to read, with the stock of the moment."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Product
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db

TEE = f"{shop.PRODUCTS}tee/"
NEW = {"sku": "tee", "name": "Red tee", "price": "19.90"}


@pytest.fixture
def staff(api: MakeClient) -> Client:
    """Give a client that may write stock."""
    return api("staff001", "stock:write")


def test_everybody_may_see_products(client: Client) -> None:
    """No token is needed; the document is that of the contract."""
    shop.open_sale("tee", stock=5, name="Red tee", limit_per_buyer=2, opens_at=datetime(2020, 5, 1, 18, tzinfo=UTC))

    answer = client.get(TEE)

    assert answer.status_code == 200
    assert answer.json() == {
        "sku": "tee",
        "name": "Red tee",
        "description": "",
        "price": "19.90",
        "currency": "EUR",
        "limit": 2,
        "hold_seconds": 900,
        "opens_at": "2020-05-01T18:00:00Z",
        "closes_at": None,
        "admission": "direct",
        "active": True,
        "available": 5,
        "held": 0,
    }
    assert client.get(shop.PRODUCTS).json() == {"next": None, "results": [answer.json()]}


def test_a_bad_token_is_refused_where_none_is_needed(client: Client) -> None:
    """Who shows a token is told that it is bad, instead of being taken for somebody else."""
    for address in (TEE, shop.PRODUCTS):
        answer = client.get(address, headers={"Authorization": "Bearer nonsense"})
        assert shop.refusal(answer) == (401, "not_authenticated")


@pytest.mark.django_db(transaction=True)
def test_available_and_held_are_those_of_this_moment(client: Client, api: MakeClient) -> None:
    """Read from the books at each call, with an ETag that changes with them."""
    shop.open_sale("tee", stock=5)
    before = client.get(TEE)

    shop.buy(api("ann"), shop.basket("tee", 2))
    after = client.get(TEE)

    assert (after.json()["available"], after.json()["held"]) == (3, 2)
    assert before["ETag"] != after["ETag"]
    assert after["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("address", [TEE, shop.PRODUCTS])
def test_who_has_seen_it_is_told_so(address: str, client: Client) -> None:
    """304 for the ETag alone, among others, weak, and for *; 200 once it has changed."""
    shop.open_sale("tee", stock=5)
    etag = client.get(address)["ETag"]

    for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        answer = client.get(address, headers={"If-None-Match": known})
        assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", etag)
    Product.objects.update(name="Blue tee")
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 200
    assert client.get(address, headers={"If-None-Match": "nonsense"}).status_code == 200


def test_products_come_in_pages_of_one_query_each(client: Client) -> None:
    """Sorted by sku; the stock of a page costs nothing more."""
    for sku in ("c", "a", "b"):
        shop.open_sale(sku)

    with CaptureQueriesContext(connection) as captured:
        first = client.get(f"{shop.PRODUCTS}?page_size=2").json()
        queries = len(captured)
    second = client.get(first["next"]).json()

    assert queries == 1
    assert [product["sku"] for product in first["results"] + second["results"]] == ["a", "b", "c"]
    assert second["next"] is None


@pytest.mark.parametrize(("query", "pointer"), [("cursor=a%20b", "?cursor"), ("cursor=", "?cursor"), ("q=1", "?q")])
def test_a_parameter_that_means_nothing_is_refused(query: str, pointer: str, client: Client) -> None:
    """In the list as in a detail."""
    assert shop.pointers(client.get(f"{shop.PRODUCTS}?{query}")) == [pointer]


@pytest.mark.parametrize("sku", ["cap", "a%20b", "%00", "tee%0A", "x" * 65, "%ED%A0%80"])
def test_what_is_no_product_is_not_found(sku: str, client: Client, staff: Client) -> None:
    """Also where it cannot be one; for staff's calls as well."""
    shop.open_sale("tee")

    assert shop.refusal(client.get(f"{shop.PRODUCTS}{sku}/")) == (404, "not_found")
    assert shop.refusal(shop.patch(staff, f"{shop.PRODUCTS}{sku}/", {"name": "x"})) == (404, "not_found")
    for below in ("stock", "movements"):
        assert shop.refusal(staff.get(f"{shop.PRODUCTS}{sku}/{below}/")) == (404, "not_found")
