"""Stock: seeded by staff, once per request, and only over a version that was seen."""

from typing import Any

import pytest
from django.test import Client

from inventory.models import Stock, StockMovement
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db

STOCK = f"{shop.PRODUCTS}tee/stock/"
MOVEMENTS = f"{shop.PRODUCTS}tee/movements/"


@pytest.fixture
def staff(api: MakeClient) -> Client:
    """Give a client that may write stock."""
    return api("staff001", "stock:write")


def units(available: int, **members: Any) -> dict[str, Any]:
    """Make a body that seeds."""
    return {"available": available, "request_id": f"seed-{available}"} | members


def delta(units: int, **members: Any) -> dict[str, Any]:
    """Make a body that adjusts."""
    return {"delta": units, "reason": "counted", "request_id": f"adjust-{units}"} | members


def test_a_first_seed_needs_no_version(staff: Client) -> None:
    """The stock, its version as the ETag, and the movement that brought it there."""
    shop.open_sale("tee", stock=0)
    assert staff.get(STOCK).json() == {"product": "tee", "available": 0, "version": 0}

    answer = shop.put(staff, STOCK, units(10))

    assert (answer.status_code, answer["ETag"]) == (200, '"1"')
    movement = answer.json().pop("movement")
    assert answer.json() | {"movement": None} == {"product": "tee", "available": 10, "version": 1, "movement": None}
    assert (movement["kind"], movement["delta"], movement["balance_after"]) == ("seeded", 10, 10)
    assert (movement["actor"], movement["request_id"], movement["seq"]) == ("staff001", "seed-10", 1)
    assert staff.get(STOCK)["ETag"] == '"1"'


@pytest.mark.django_db(transaction=True)
def test_a_further_seed_needs_the_version_that_was_seen(staff: Client, api: MakeClient) -> None:
    """O12 and O13: 428 without, 412 where a unit was sold meanwhile; the movement is the difference."""
    shop.open_sale("tee", stock=5)
    seen = staff.get(STOCK)["ETag"]
    shop.buy(api("ann"), shop.basket("tee"))

    assert shop.refusal(shop.put(staff, STOCK, units(8))) == (428, "precondition_required")
    assert shop.refusal(shop.put(staff, STOCK, units(8), If_Match=seen)) == (412, "precondition_failed")
    answer = shop.put(staff, STOCK, units(8), If_Match=staff.get(STOCK)["ETag"])

    assert (answer.status_code, answer.json()["available"], answer.json()["movement"]["delta"]) == (200, 8, 4)


@pytest.mark.parametrize("header", ["*", '"1"', '"7", "1"', 'W/"1", "1"', '  "1"  '])
def test_one_right_version_is_enough(header: str, staff: Client) -> None:
    """Alone or in a list; `*` is whatever there is."""
    shop.open_sale("tee", stock=5)

    assert shop.put(staff, STOCK, units(8), If_Match=header).status_code == 200


@pytest.mark.parametrize("header", ['"0"', '"2"', 'W/"1"', '"abc"', '"99999999999999999999"', '"1 "', '""'])
def test_another_version_is_stale(header: str, staff: Client) -> None:
    """A weak ETag is never a match (RFC 9110), and what was never ours is nothing's version."""
    shop.open_sale("tee", stock=5)

    assert shop.refusal(shop.put(staff, STOCK, units(8), If_Match=header)) == (412, "precondition_failed")
    assert Stock.objects.get().available == 5


@pytest.mark.parametrize("header", ["", "1", "nonsense", '"1'])
def test_a_version_stands_in_quotes(header: str, staff: Client) -> None:
    """Without them it is no ETag, and the caller is told so instead of hearing of a change that never was."""
    shop.open_sale("tee", stock=5)

    assert shop.pointers(shop.put(staff, STOCK, units(8), If_Match=header)) == ["If-Match"]


@pytest.mark.django_db(transaction=True)
def test_a_seed_that_is_repeated_is_answered_before_its_version_is_compared(staff: Client, api: MakeClient) -> None:
    """I14: the answer was lost; the same movement comes back, and the stock of now."""
    shop.open_sale("tee", stock=0)
    first = shop.put(staff, STOCK, units(10))
    shop.buy(api("ann"), shop.basket("tee", 3))

    again = [shop.put(staff, STOCK, units(10), **headers) for headers in ({}, {"If_Match": '"0"'})]

    for answer in again:
        assert (answer.status_code, answer["Idempotent-Replayed"]) == (200, "true")
        assert answer.json()["movement"] == first.json()["movement"]
        assert (answer.json()["available"], answer["ETag"]) == (7, '"2"')
    assert StockMovement.objects.filter(kind="seeded").count() == 1


def test_a_seed_of_what_is_there_moves_nothing(staff: Client) -> None:
    """No movement of zero units, and no new version."""
    shop.open_sale("tee", stock=5)

    answer = shop.put(staff, STOCK, units(5), If_Match='"1"')

    assert answer.json() == {"product": "tee", "available": 5, "version": 1, "movement": None}


@pytest.mark.parametrize("value", [-1, 1.0, "1", True, None, 1_000_000_001, 10**30])
def test_a_pointer_leads_to_what_is_wrong_with_a_seed(value: Any, staff: Client) -> None:
    """Whole units from 0 on."""
    shop.open_sale("tee", stock=5)

    assert shop.pointers(shop.put(staff, STOCK, units(value, request_id="r-1"))) == ["/available"]


@pytest.mark.parametrize("value", ["", "  ", [], {}, 0, True, "a b", "x" * 129])
def test_a_malformed_request_id_is_refused(value: object, staff: Client) -> None:
    """I12: of staff as of buyers; and a header that differs is a conflict."""
    shop.open_sale("tee", stock=5)

    for call, address, body in ((shop.put, STOCK, units(7)), (shop.post, MOVEMENTS, delta(1))):
        assert shop.refusal(call(staff, address, body | {"request_id": value})) == (400, "request_id_invalid")
        assert shop.refusal(call(staff, address, body | {"request_id": None})) == (400, "request_id_missing")
        assert shop.refusal(call(staff, address, body, Idempotency_Key="other")) == (400, "request_id_conflict")


def test_stock_is_the_business_of_staff_alone(api: MakeClient, client: Client) -> None:
    """401 without a token, 403 without the scope, to read as to write."""
    shop.open_sale("tee", stock=5)

    strangers = ((client, (401, "not_authenticated")), (api("ann", "orders:any-buyer"), (403, "permission_denied")))
    for stranger, told in strangers:
        for answer in (
            stranger.get(STOCK),
            stranger.get(MOVEMENTS),
            shop.put(stranger, STOCK, units(7)),
            shop.post(stranger, MOVEMENTS, b"{"),
        ):
            assert shop.refusal(answer) == told
