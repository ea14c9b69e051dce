"""POST /orders/: whose a request_id is, where it stands and what it may be. The cases I01, I04, I07 and I10 to I13."""

import json
import uuid
from typing import Any
from urllib.parse import quote

import pytest

from inventory.models import Stock
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db(transaction=True)


def lines(quantity: int = 1) -> dict[str, Any]:
    """Make a body without a request_id."""
    return {"lines": [{"product": "tee", "quantity": quantity}]}


@pytest.fixture(autouse=True)
def _on_sale() -> None:
    shop.open_sale("tee", stock=9)


def test_a_request_id_belongs_to_its_buyer(api: MakeClient) -> None:
    """I01: another buyer's equal request is an order of his own."""
    basket = shop.basket("tee")

    ann, bob = shop.buy(api("ann"), basket), shop.buy(api("bob"), basket)

    assert ann.json()["id"] != bob.json()["id"]
    assert "Idempotent-Replayed" not in bob
    assert Stock.objects.get(product__sku="tee").available == 7


def test_a_backend_repeats_for_the_buyer_he_names(api: MakeClient) -> None:
    """I01: the key is the buyer's, whoever sends it."""
    backend, basket = api("shop", "orders:any-buyer"), shop.basket("tee", request_id="r-1")
    first = shop.buy(api("ann"), basket)

    again, other = (shop.buy(backend, basket | {"buyer": buyer}) for buyer in ("ann", "bob"))

    assert again.content == first.content
    assert other.json()["id"] != first.json()["id"]


def test_a_bad_body_does_not_spoil_its_request_id(api: MakeClient) -> None:
    """I04: put right, the same request_id makes an order."""
    bad = shop.basket("tee", 0)

    assert shop.pointers(shop.buy(api("ann"), bad)) == ["/lines/0/quantity"]
    assert shop.buy(api("ann"), bad | lines()).status_code == 201


@pytest.mark.parametrize("header", ["A", '"A"'])
def test_a_header_is_as_good_as_a_member(header: str, api: MakeClient) -> None:
    """I07: bare or quoted, alone or beside the same request_id in the body, or beside null."""
    first = shop.buy(api("ann"), lines() | {"request_id": "A"})

    for body in (lines(), lines() | {"request_id": "A"}, lines() | {"request_id": None}):
        assert shop.buy(api("ann"), body, Idempotency_Key=header).content == first.content


def test_a_uuid_is_the_same_in_capitals(api: MakeClient) -> None:
    """In the body, in the header, and in an address."""
    request_id = str(uuid.uuid4())
    first = shop.buy(api("ann"), lines() | {"request_id": request_id.upper()})

    assert first.json()["request_id"] == request_id
    assert shop.buy(api("ann"), lines(), Idempotency_Key=request_id).content == first.content
    assert api("ann").get(f"/api/v1/requests/{request_id.upper()}/").json()["status"] == "placed"


@pytest.mark.parametrize("length", [129, 3_000, 9_000])
def test_a_long_request_id_is_refused(length: int, api: MakeClient) -> None:
    """I10: in the body, in the header, and in an address; never cut."""
    name = "x" * length

    for answer in (
        shop.buy(api("ann"), lines() | {"request_id": name}),
        shop.buy(api("ann"), lines(), Idempotency_Key=name),
        api("ann").get(f"/api/v1/requests/{name}/"),
        api("ann").get(f"{shop.ORDERS}?request_id={name}"),
    ):
        assert shop.refusal(answer) == (400, "request_id_invalid")


@pytest.mark.parametrize("character", ["\x00", "\t", "\n", "\u202e", "😀"])
def test_a_request_id_of_other_characters_is_refused(character: str, api: MakeClient) -> None:
    """I11: in the body and in an address."""
    body = json.dumps(lines() | {"request_id": f"a{character}b"}).encode()

    assert shop.refusal(shop.buy(api("ann"), body)) == (400, "request_id_invalid")
    assert shop.refusal(api("ann").get(f"/api/v1/requests/{quote(f'a{character}b')}/")) == (400, "request_id_invalid")


@pytest.mark.parametrize("value", ["", "  ", [], {}, 0, True, 1.5, ["a"]])
def test_what_is_no_request_id_is_invalid(value: object, api: MakeClient) -> None:
    """I12: and a good header does not make up for it."""
    body = lines() | {"request_id": value}

    assert shop.refusal(shop.buy(api("ann"), body)) == (400, "request_id_invalid")
    assert shop.refusal(shop.buy(api("ann"), body, Idempotency_Key="a")) == (400, "request_id_invalid")


@pytest.mark.parametrize("body", [lines(), lines() | {"request_id": None}])
def test_without_a_request_id_nothing_is_placed(body: dict[str, Any], api: MakeClient) -> None:
    """I12: absent and null are missing, and the answer says where it may stand."""
    answer = shop.buy(api("ann"), body)

    assert shop.refusal(answer) == (400, "request_id_missing")
    assert "Idempotency-Key" in answer.json()["detail"]


def test_header_and_body_that_differ_are_a_conflict(api: MakeClient) -> None:
    """I13: nobody can say which of the two will be repeated."""
    answer = shop.buy(api("ann"), lines() | {"request_id": "A"}, Idempotency_Key="B")

    assert shop.refusal(answer) == (400, "request_id_conflict")


@pytest.mark.parametrize("header", ["A,B", "A,A", "A, A", '"A","A"', "", '""', '"A";b=c'])
def test_a_header_that_is_not_one_request_id_is_refused(header: str, api: MakeClient) -> None:
    """I13: a header sent twice arrives joined by a comma, and is not one, also where both are equal."""
    assert shop.refusal(shop.buy(api("ann"), lines(), Idempotency_Key=header)) == (400, "request_id_invalid")


def test_the_body_is_judged_before_the_request_id(api: MakeClient) -> None:
    """A caller who gets both wrong is told of the body first, and of another buyer's name before either."""
    assert shop.pointers(shop.buy(api("ann"), {"lines": [], "request_id": ""})) == ["/lines"]
    assert shop.refusal(shop.buy(api("ann"), lines() | {"buyer": "bob", "request_id": ""}))[0] == 403
