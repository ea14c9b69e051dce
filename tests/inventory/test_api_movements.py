"""Movements: stock adjusted by staff with a reason, once per request, in a ledger that is read from its end."""

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


def test_an_adjustment_is_an_entry_of_the_ledger(staff: Client) -> None:
    """201 with the entry, signed with who made it; hashes are hexadecimal and chained."""
    shop.open_sale("tee", stock=5)

    answer = shop.post(staff, MOVEMENTS, delta(-2, reason="2 pieces naß"))

    assert answer.status_code == 201
    entry = answer.json()
    assert (entry["product"], entry["kind"], entry["delta"], entry["balance_after"]) == ("tee", "adjusted", -2, 3)
    assert (entry["reason"], entry["actor"], entry["order"]) == ("2 pieces naß", "staff001", None)
    assert entry["previous_hash"] == staff.get(MOVEMENTS).json()["results"][1]["hash"]
    assert len(bytes.fromhex(entry["hash"])) == 32


def test_an_adjustment_that_is_repeated_is_one_entry(staff: Client, api: MakeClient) -> None:
    """I14: the same bytes, whoever of staff repeats it."""
    shop.open_sale("tee", stock=5)
    first = shop.post(staff, MOVEMENTS, delta(-2))

    again = shop.post(api("staff002", "stock:write"), MOVEMENTS, delta(-2))

    assert (again.status_code, again.content, again["Idempotent-Replayed"]) == (201, first.content, "true")
    assert "Idempotent-Replayed" not in first
    assert Stock.objects.get().available == 3


def test_a_request_id_of_staff_stands_for_one_movement(staff: Client) -> None:
    """Other units, another reason or another kind of call: 422; on another product it is another request."""
    shop.open_sale("tee", stock=5)
    shop.open_sale("cap", stock=5)
    shop.post(staff, MOVEMENTS, delta(-2, request_id="r-1"))

    for answer in (
        shop.post(staff, MOVEMENTS, delta(-1, request_id="r-1")),
        shop.post(staff, MOVEMENTS, delta(-2, request_id="r-1", reason="stolen")),
        shop.put(staff, STOCK, units(3, request_id="r-1"), If_Match="*"),
    ):
        assert shop.refusal(answer) == (422, "request_id_reused")
    assert shop.post(staff, f"{shop.PRODUCTS}cap/movements/", delta(-2, request_id="r-1")).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_no_more_is_taken_away_than_is_there(staff: Client, api: MakeClient) -> None:
    """O13: what is held is not there to be taken; the number is named."""
    shop.open_sale("tee", stock=5)
    shop.buy(api("ann"), shop.basket("tee", 3))

    answer = shop.post(staff, MOVEMENTS, delta(-3))

    assert shop.refusal(answer) == (409, "insufficient_stock")
    assert answer.json()["available"] == 2
    assert shop.post(staff, MOVEMENTS, delta(-2, request_id="r-2")).status_code == 201


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("delta", 0),
        ("delta", 1.0),
        ("delta", "1"),
        ("delta", True),
        ("delta", None),
        ("delta", 1_000_000_001),
        ("delta", 10**30),
        ("reason", ""),
        ("reason", "  "),
        ("reason", "a\u0000b"),
        ("reason", "a\nb"),
        ("reason", "\u202eb"),
        ("reason", "x" * 501),
        ("reason", None),
        ("available", 1),
    ],
)
def test_a_pointer_leads_to_what_is_wrong_with_an_adjustment(member: str, value: object, staff: Client) -> None:
    """And nothing is written."""
    shop.open_sale("tee", stock=5)

    assert shop.pointers(shop.post(staff, MOVEMENTS, delta(1, **{member: value}))) == [f"/{member}"]
    assert StockMovement.objects.count() == 1


def test_stock_has_an_upper_bound(staff: Client) -> None:
    """Also in two steps."""
    shop.open_sale("tee", stock=5)

    assert shop.pointers(shop.post(staff, MOVEMENTS, delta(1_000_000_000))) == ["/delta"]


def test_the_header_is_as_good_as_the_member(staff: Client) -> None:
    """For staff as for buyers."""
    shop.open_sale("tee", stock=5)
    body = {"delta": 2, "reason": "counted"}

    first, again = (shop.post(staff, MOVEMENTS, body, Idempotency_Key='"r-1"') for _ in range(2))

    assert again.content == first.content
    assert first.json()["request_id"] == "r-1"


@pytest.mark.django_db(transaction=True)
def test_the_ledger_is_read_from_its_end(staff: Client, api: MakeClient) -> None:
    """Every movement in pages, the newest first; those of orders name the order and its buyer."""
    shop.open_sale("tee", stock=5)
    order = shop.buy(api("ann"), shop.basket("tee", 2)).json()
    shop.post(staff, MOVEMENTS, delta(4))

    first = staff.get(f"{MOVEMENTS}?page_size=2").json()
    second = staff.get(first["next"]).json()

    entries = first["results"] + second["results"]
    assert [entry["seq"] for entry in entries] == [3, 2, 1]
    assert [entry["delta"] for entry in entries] == [4, -2, 5]
    assert (entries[1]["order"], entries[1]["actor"], entries[1]["kind"]) == (order["id"], "ann", "placed")
    assert entries[1]["request_id"] is None
    assert second["next"] is None
    assert shop.pointers(staff.get(f"{MOVEMENTS}?cursor=x")) == ["?cursor"]
