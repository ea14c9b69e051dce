"""The admin while a server is away: Valkey is not needed, and PostgreSQL's absence is a page that says so."""

import pytest
from django.test import Client
from django_redis import get_redis_connection
from pytest_django import Settings
from redis.exceptions import RedisError

from tests.races.database import pool_of, reconnected
from tests.races.sale import open_sale
from tests.staff import PRODUCTS, opened, page_of, send, sign_in, told

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = "redis://127.0.0.1:1"


def test_staff_work_on_while_valkey_is_away(settings: Settings) -> None:
    """Sign-in, sessions and messages live in PostgreSQL or in the browser, and stock moves there as well."""
    settings.CACHES = {alias: cache | {"LOCATION": NOWHERE} for alias, cache in settings.CACHES.items()}
    with pytest.raises(RedisError):
        get_redis_connection("default").ping()
    staff = sign_in()
    open_sale("tee", total=5)

    answer = send(staff, page_of("tee", "adjust"), opened(staff, page_of("tee", "adjust")), delta="2", reason="found")

    assert told(answer) == ["Moved +2 units: 7 are available."]
    assert staff.get(PRODUCTS).status_code == 200


@pytest.mark.parametrize("path", [PRODUCTS, "/admin/", "/admin/orders/order/"])
def test_a_database_that_is_away_is_a_page_and_no_traceback(path: str) -> None:
    """503, with a way to try again; a program that asks is given the document."""
    staff = sign_in()

    with reconnected(PORT="1", HOST="127.0.0.1", options=pool_of(1, wait_seconds=0.3)):
        page = staff.get(path, headers={"Accept": "text/html,*/*"})
        document = staff.get(path, headers={"Accept": "application/json"})

    assert (page.status_code, page["Content-Type"]) == (503, "text/html; charset=utf-8")
    assert "The database cannot be reached" in page.content.decode()
    assert page["Retry-After"] == document["Retry-After"]
    assert document["Content-Type"] == "application/problem+json"
    assert staff.get(path).status_code == 200


def test_a_sign_in_while_the_database_is_away_is_told_so() -> None:
    """The page to sign in is there, the answer is 503."""
    client = Client(raise_request_exception=False)

    with reconnected(PORT="1", HOST="127.0.0.1", options=pool_of(1, wait_seconds=0.3)):
        assert client.get("/admin/login/").status_code == 200
        answer = client.post("/admin/login/", {"username": "staff", "password": "x"}, headers={"Accept": "text/html"})

    assert answer.status_code == 503
