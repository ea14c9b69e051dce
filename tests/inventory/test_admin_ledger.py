"""The ledger in the admin: to read, found by index, and bounded."""

from datetime import UTC, timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.admin import reading
from inventory.models import StockMovement
from orders import placing
from orders.models import Order
from tests.races.sale import open_sale, wants
from tests.staff import LEDGER, shown, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff() -> Client:
    """Sign in as the shop's staff."""
    return sign_in()


def sell() -> UUID:
    """Seed two products, sell one unit of one, and give the order's id."""
    open_sale("tee", total=5)
    open_sale("cap", total=5)
    placing.place([wants("tee")])
    return Order.objects.get().id


def entries(staff: Client, **query: str) -> list[tuple[str, int]]:
    """Give sku and number of the entries that a list shows."""
    return [(entry.product.sku, entry.seq) for entry in shown(staff.get(LEDGER, query))]


def test_the_newest_entry_comes_first(staff: Client) -> None:
    """Over all products."""
    sell()

    assert entries(staff) == [("tee", 2), ("cap", 1), ("tee", 1)]


def test_entries_are_found_by_product_order_and_request(staff: Client) -> None:
    """Each by the whole of it; the request of staff belongs to its product."""
    order_id = sell()

    assert entries(staff, q="tee") == [("tee", 2), ("tee", 1)]
    assert entries(staff, q=str(order_id)) == [("tee", 2)]
    assert entries(staff, q="cap seed-cap") == [("cap", 1)]


@pytest.mark.parametrize("term", ["te", "seed-cap", "tee seed-cap", "%", "'", "0" * 32, "x" * 5_000])
def test_what_is_not_there_finds_nothing(staff: Client, term: str) -> None:
    """A part of a word is no word, and no term breaks the page."""
    sell()

    assert entries(staff, q=term) == []


@pytest.mark.parametrize("name", ["q", "product", "from", "kind__exact"])
def test_a_nul_breaks_no_list(staff: Client, name: str) -> None:
    """PostgreSQL has no such character; a list that is asked for it is still a list."""
    assert staff.get(LEDGER, {name: "\0"}, follow=True).status_code == 200


def test_entries_are_filtered_by_product_kind_and_time(staff: Client) -> None:
    """Filters add up, and keep one another."""
    sell()
    soon = (timezone.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")

    assert entries(staff, product="tee", kind__exact="placed") == [("tee", 2)]
    assert entries(staff, product="none") == []
    assert entries(staff, last="15m", product="cap") == [("cap", 1)]
    assert entries(staff, **{"from": "2020-01-01T00:00", "until": soon}, product="cap") == [("cap", 1)]
    assert entries(staff, **{"from": soon}) == []
    assert 'name="kind__exact" value="placed"' in staff.get(LEDGER, {"kind__exact": "placed"}).content.decode()


@pytest.mark.parametrize("query", [{"last": "soon"}, {"from": "soon"}, {"until": "0001-01-01"}, {"from": "9999-12-31"}])
def test_a_filter_that_is_no_time_shows_the_list_without_it(staff: Client, query: dict[str, str]) -> None:
    """A link that somebody has edited is not an error."""
    assert staff.get(LEDGER, query, follow=True).redirect_chain == [(f"{LEDGER}?e=1", 302)]


def test_a_search_uses_no_pattern(staff: Client) -> None:
    """A pattern in the WHERE reads every row of a large table."""
    sell()

    with CaptureQueriesContext(connection) as queries:
        entries(staff, q="tee")

    assert not [query for query in queries if "LIKE" in query["sql"] or "UPPER" in query["sql"]]


def test_the_rows_of_a_large_table_are_not_all_counted(staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The count ends at its bound, and the page says that there are more."""
    monkeypatch.setattr(reading, "ROWS_COUNTED_MAX", 2)
    sell()

    page = staff.get(LEDGER)

    assert page.context["cl"].result_count == 2
    assert "The first 2 stock movements; there are more" in page.content.decode()


def test_a_list_that_takes_too_long_says_so(staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the ledger is bounded in time; here it waits for a table that somebody has locked."""
    monkeypatch.setattr(reading, "LOOK_SECONDS_MAX", 0.2)
    sell()
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("LOCK TABLE inventory_stockmovement IN ACCESS EXCLUSIVE MODE")
        answer = staff.get(LEDGER, {"q": "tee"})
    other.rollback()
    other.close()

    assert (answer.status_code, answer["Location"]) == (302, LEDGER)
    assert "That took too long to find" in staff.get(LEDGER).content.decode()


def test_an_entry_shows_all_that_the_chain_is_made_of(staff: Client) -> None:
    """Hashes in hexadecimal, the time to the second, the order as a link."""
    order_id = sell()
    entry = StockMovement.objects.get(order_id=order_id)

    text = staff.get(f"{LEDGER}{entry.pk}/change/").content.decode()

    assert bytes(entry.hash).hex() in text
    assert bytes(entry.previous_hash).hex() in text
    assert entry.created_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") in text
    assert f"/admin/orders/order/{order_id}/change/" in text


def test_the_ledger_is_to_read(staff: Client) -> None:
    """Nothing is added, changed or deleted, by nobody."""
    sell()
    entry = StockMovement.objects.order_by("pk")[0]

    assert staff.get(f"{LEDGER}add/").status_code == 403
    assert staff.post(f"{LEDGER}{entry.pk}/change/", {"delta": "9"}).status_code == 403
    assert staff.post(f"{LEDGER}{entry.pk}/delete/", {"post": "yes"}).status_code == 403
    assert "_selected_action" not in staff.get(LEDGER).content.decode()
