"""GET /orders/, /orders/{id}/ and /requests/{request_id}/: what a caller may see, and how it is found."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from orders import lifecycle
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db(transaction=True)

ANY_BUYER = "orders:any-buyer"


@pytest.fixture(autouse=True)
def _on_sale() -> None:
    shop.open_sale("tee", stock=99)
    shop.open_sale("cap", stock=99)


def placed(api: MakeClient, buyer: str, sku: str = "tee", **members: object) -> str:
    """Place an order, and give its id."""
    order_id: str = shop.buy(api(buyer), shop.basket(sku, **members)).json()["id"]
    return order_id


def listed(answer: shop.Answer) -> list[str]:
    """Give the ids of a page."""
    assert answer.status_code == 200, answer.content
    return [order["id"] for order in answer.json()["results"]]


def test_a_buyer_sees_his_own_orders_the_newest_first(api: MakeClient) -> None:
    """And nobody else's."""
    first, _, last = placed(api, "ann"), placed(api, "bob"), placed(api, "ann")

    assert listed(api("ann").get(shop.ORDERS)) == [last, first]
    assert listed(api("cleo").get(shop.ORDERS)) == []


def test_orders_are_found_by_request_status_and_product(api: MakeClient) -> None:
    """One filter or several."""
    tee, cap = placed(api, "ann", "tee", request_id="r-1"), placed(api, "ann", "cap")
    gone = placed(api, "ann", "cap")
    lifecycle.cancel([uuid.UUID(gone)], actor="staff")

    def found(query: str) -> list[str]:
        return listed(api("ann").get(f"{shop.ORDERS}?{query}"))

    assert found("request_id=r-1") == [tee]
    assert found("request_id=r-2") == []
    assert found("status=cancelled") == [gone]
    assert found("product=cap") == [gone, cap]
    assert found("product=cap&status=reserved") == [cap]
    assert found("product=unheard-of") == []


def test_a_backend_sees_the_orders_of_any_buyer(api: MakeClient) -> None:
    """In the list, alone, and by request; a buyer who is named without the scope is 403."""
    order = placed(api, "ann", request_id="r-1")
    backend = api("shop", ANY_BUYER)

    assert listed(backend.get(f"{shop.ORDERS}?buyer=ann")) == [order]
    assert listed(backend.get(shop.ORDERS)) == []
    assert backend.get(f"{shop.ORDERS}{order}/").json()["id"] == order
    assert backend.get("/api/v1/requests/r-1/?buyer=ann").json()["status"] == "placed"
    for address in (shop.ORDERS, "/api/v1/requests/r-1/"):
        assert shop.refusal(api("bob").get(f"{address}?buyer=ann")) == (403, "permission_denied")


def test_another_buyers_order_is_not_there(api: MakeClient) -> None:
    """404, as for one that does not exist: nobody learns which ids are taken."""
    order = placed(api, "ann")

    others, none = api("bob").get(f"{shop.ORDERS}{order}/"), api("bob").get(f"{shop.ORDERS}{uuid.uuid4()}/")

    assert shop.refusal(others) == shop.refusal(none) == (404, "not_found")
    assert others.json()["detail"] == none.json()["detail"]


def test_pages_follow_one_another_without_a_gap(api: MakeClient) -> None:
    """Also where orders are placed meanwhile, and with the filters of the first page."""
    orders = [placed(api, "ann") for _ in range(5)]
    ann = api("ann")

    first = ann.get(f"{shop.ORDERS}?page_size=2&product=tee")
    placed(api, "ann")
    second = ann.get(first.json()["next"])
    third = ann.get(second.json()["next"])

    assert listed(first) + listed(second) + listed(third) == orders[::-1]
    assert "product=tee" in second.json()["next"]
    assert third.json()["next"] is None


def test_a_page_costs_the_same_however_long_it_is(api: MakeClient) -> None:
    """Two queries: orders, and their lines with products."""
    counts = []
    for _ in range(3):
        placed(api, "ann")
        with CaptureQueriesContext(connection) as captured:
            api("ann").get(shop.ORDERS)
        counts.append(len(captured))

    assert counts == [2, 2, 2]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("status=paid", "?status"),
        ("status=", "?status"),
        ("status=reserved&status=cancelled", "?status"),
        ("product=a%20b", "?product"),
        ("product=%00", "?product"),
        ("product=tee%0a", "?product"),
        ("product=", "?product"),
        ("buyer=%00", "?buyer"),
        ("buyer=", "?buyer"),
        ("cursor=7", "?cursor"),
        ("cursor=", "?cursor"),
        ("page_size=0", "?page_size"),
        ("page_size=201", "?page_size"),
        ("page_size=-1", "?page_size"),
        ("page_size=%D9%A1", "?page_size"),
        ("page_size=", "?page_size"),
        ("statuss=reserved", "?statuss"),
        ("format=xml", "?format"),
        ("%00=1", "?\x00"),
        ("&".join(f"a{number}=1" for number in range(1001)), "?"),
    ],
)
def test_a_parameter_that_means_nothing_is_refused(query: str, pointer: str, api: MakeClient) -> None:
    """A typo must not find all orders."""
    assert shop.pointers(api("shop", ANY_BUYER).get(f"{shop.ORDERS}?{query}")) == [pointer]


def test_a_malformed_request_id_finds_nothing(api: MakeClient) -> None:
    """It is refused as it is everywhere, also an empty one."""
    for query in ("request_id=a%20b", "request_id=", "request_id=%00"):
        assert shop.refusal(api("ann").get(f"{shop.ORDERS}?{query}")) == (400, "request_id_invalid")


def test_what_became_of_a_request(api: MakeClient) -> None:
    """`placed` and where, or `unknown`; always 200, and of the caller's own requests."""
    order = placed(api, "ann", request_id="r-1")

    answer = api("ann").get("/api/v1/requests/r-1/")

    assert answer.json() == {"status": "placed", "order": f"/api/v1/orders/{order}/"}
    assert api("ann").get(answer.json()["order"]).json()["id"] == order
    for buyer, request_id in (("ann", "r-2"), ("bob", "r-1")):
        unknown = api(buyer).get(f"/api/v1/requests/{request_id}/")
        assert (unknown.status_code, unknown.json()) == (200, {"status": "unknown"})


def test_a_refused_request_is_unknown(api: MakeClient) -> None:
    """Refusals are not remembered: the same request may succeed later."""
    shop.buy(api("ann"), shop.basket("tee", 100, request_id="r-1"))

    assert api("ann").get("/api/v1/requests/r-1/").json() == {"status": "unknown"}


def test_orders_are_nobodys_business_on_the_way(api: MakeClient) -> None:
    """No cache keeps them."""
    order = placed(api, "ann")

    for address in (shop.ORDERS, f"{shop.ORDERS}{order}/", "/api/v1/requests/r-1/"):
        assert api("ann").get(address)["Cache-Control"] == "no-store"


def test_without_a_token_nothing_is_shown(api: MakeClient) -> None:
    """401 before 404 and 400."""
    stranger = api("ann")
    stranger.defaults.pop("HTTP_AUTHORIZATION")

    for address in (f"{shop.ORDERS}{uuid.uuid4()}/", f"{shop.ORDERS}?nonsense=1", "/api/v1/requests/a%20b/"):
        assert shop.refusal(stranger.get(address)) == (401, "not_authenticated")
