"""POST /orders/: what repeating a request means. The cases I02 and I05 to I09 of a single process."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import jwt
import pytest
from django.conf import settings as configured
from django.db import connection, transaction
from django.db.models import F
from django.test import Client
from django_redis import get_redis_connection
from pytest_django import Settings

from access import throttling, tokens
from access.breaker import Breaker
from inventory.models import Product, Stock
from orders.models import Order
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db(transaction=True)

#: Where nothing listens.
NO_VALKEY = "unix:///nonexistent/valkey.sock"
RACE_SECONDS = 30.0


def lines(quantity: int = 1) -> dict[str, Any]:
    """Make a body without a request_id."""
    return {"lines": [{"product": "tee", "quantity": quantity}]}


@pytest.fixture(autouse=True)
def _on_sale() -> None:
    shop.open_sale("tee", stock=9)


def test_a_repeat_needs_a_good_token(api: MakeClient, token: Any) -> None:
    """I02: an expired token and one of another key are 401, also for what was placed."""
    basket = shop.basket("tee")
    shop.buy(api("ann"), basket)
    expired = tokens.issue("ann", seconds=-3600)
    forged = jwt.encode({"sub": "ann", "exp": 9_999_999_999}, "another secret of at least 32 bytes", algorithm="HS256")

    for bad in (expired, forged, token("ann")[:-3] + "xyz"):
        answer = shop.buy(Client(headers={"Authorization": f"Bearer {bad}"}), basket)
        assert shop.refusal(answer) == (401, "not_authenticated")


@pytest.mark.parametrize("change", [{"active": False}, {"opens_at": "2999-01-01T00:00:00Z"}, {"limit_per_buyer": 1}])
def test_a_repeat_is_answered_whatever_became_of_the_product(change: dict[str, Any], api: MakeClient) -> None:
    """I05: withdrawn, its window moved, its limit lowered: the order stands."""
    basket = shop.basket("tee", 2)
    first = shop.buy(api("ann"), basket)
    Product.objects.filter(sku="tee").update(price="99.00", **change)

    again = shop.buy(api("ann"), basket)

    assert (again.status_code, again.content) == (201, first.content)
    assert again["Idempotent-Replayed"] == "true"


def test_a_repeat_is_answered_when_all_is_sold(api: MakeClient) -> None:
    """I05: the buyer of the last unit is not told that it is gone."""
    basket = shop.basket("tee", 9)
    first = shop.buy(api("ann"), basket)

    assert shop.refusal(shop.buy(api("bob"), shop.basket("tee"))) == (409, "sold_out")
    assert shop.buy(api("ann"), basket).content == first.content


def test_fifty_first_requests_at_once_are_one_order(api: MakeClient) -> None:
    """I06: fifty threads, one order, fifty equal answers."""
    basket, barrier = shop.basket("tee"), threading.Barrier(50)

    def send(number: int) -> shop.Answer:
        client = api("ann")
        barrier.wait(RACE_SECONDS)
        return shop.buy(client, basket)

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(send, range(50), timeout=RACE_SECONDS))

    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
    assert sum("Idempotent-Replayed" not in answer for answer in answers) == 1
    assert Stock.objects.get(product__sku="tee").available == 8


def test_a_repeat_of_what_still_runs_is_told_so(api: MakeClient, settings: Settings) -> None:
    """409 after the wait, with Retry-After; the first one gets its order."""
    settings.PLACING_WAIT_SECONDS = 0.3
    basket = shop.basket("tee")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Stock.objects.select_for_update().get(product__sku="tee")
            first = pool.submit(shop.buy, api("ann"), basket)
            wait_for_the_row()
            second = shop.buy(api("ann"), basket)
        placed = first.result(RACE_SECONDS)

    assert shop.refusal(second) == (409, "request_in_progress")
    assert (second["Retry-After"], second.json()["retryable"]) == ("1", True)
    assert placed.status_code == 201
    assert shop.buy(api("ann"), basket).content == placed.content


@pytest.mark.parametrize(
    "body",
    [
        b'{"lines":[{"quantity":1,"product":"tee"}],"request_id":"A"}',
        b'{ "request_id" : "\\u0041",\n"lines" : [{"product":"t\\u0065e","quantity":1}] }',
        b'{"request_id":"A","lines":[{"product":"tee","quantity":1}],"expected_total":"1.00"}',
    ],
)
def test_how_a_request_is_written_makes_no_difference(body: bytes, api: MakeClient) -> None:
    """I07: key order, white space, escapes; nor what the buyer expects to pay for what he has."""
    first = shop.buy(api("ann"), lines() | {"request_id": "A"})

    again = shop.buy(api("ann"), body)

    assert again.content == first.content


@pytest.mark.parametrize("valkey", ["warm", "cold", "stopped"])
def test_other_content_under_the_same_request_id_is_refused(
    valkey: str, api: MakeClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I08: 422 each time, whatever Valkey knows."""
    basket = shop.basket("tee", 1)
    shop.buy(api("ann"), basket)
    if valkey == "cold":
        get_redis_connection("gate").flushdb()
    if valkey == "stopped":
        monkeypatch.setattr(throttling, "breaker", Breaker(rest_seconds=1.0))
        settings.CACHES = {name: alias | {"LOCATION": NO_VALKEY} for name, alias in configured.CACHES.items()}

    answer = shop.buy(api("ann"), basket | lines(2))

    assert shop.refusal(answer) == (422, "request_id_reused")
    assert Stock.objects.get(product__sku="tee").available == 8


def test_a_request_id_is_remembered_for_ever(api: MakeClient) -> None:
    """I09: Valkey empty and two years later, in a process that knows nothing: the same order."""
    basket = shop.basket("tee")
    first = shop.buy(api("ann"), basket)
    get_redis_connection("gate").flushall()
    Order.objects.update(
        created_at=F("created_at") - timedelta(days=730), expires_at=F("expires_at") - timedelta(days=730)
    )

    again = shop.buy(api("ann"), basket)

    assert again["Idempotent-Replayed"] == "true"
    assert again.json()["id"] == first.json()["id"]


def wait_for_the_row() -> None:
    """Wait until a transaction stands before a row that another one holds."""
    for _ in range(int(RACE_SECONDS / 0.01)):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.01), count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[1]:
                return
    raise TimeoutError("nobody came to wait for the row")
