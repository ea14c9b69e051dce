"""Seeding and adjusting in the admin: by forms that move stock once, with a reason and a name."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from inventory.models import IDENTIFIER_LENGTH_MAX, Stock, StockMovement
from orders import placing
from tests.races.sale import open_sale, prove, wants
from tests.staff import PRODUCTS, form_in, opened, page_of, send, sign_in, told

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_SECONDS = 20


@pytest.fixture
def staff() -> Client:
    """Sign in as the shop's staff."""
    return sign_in()


def available() -> int:
    """Give the units available of the one product there is."""
    return Stock.objects.get().available


def test_an_adjustment_adds_to_what_was_sold_meanwhile(staff: Client) -> None:
    """O12: staff see 5, one is sold, they add 2: 6."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "adjust"))
    placing.place([wants("tee")])

    answer = send(staff, page_of("tee", "adjust"), form, delta="2", reason="found two more")

    assert available() == 6
    assert told(answer) == ["Moved +2 units: 6 are available."]
    entry = StockMovement.objects.get(kind="adjusted")
    assert (entry.delta, entry.note, entry.actor) == (2, "found two more", "staff:staff")
    prove("tee")


def test_taking_away_more_than_is_available_is_refused_with_the_number(staff: Client) -> None:
    """O13: 5 seeded, 2 held; 4 cannot be taken away, and nothing is."""
    open_sale("tee", total=5)
    placing.place([wants({"tee": 2})])

    answer = send(staff, page_of("tee", "adjust"), opened(staff, page_of("tee", "adjust")), delta="-4", reason="lost")

    assert "Only 3 units are available" in answer.content.decode()
    assert available() == 3
    prove("tee")


def test_an_adjustment_that_is_sent_twice_moves_once(staff: Client) -> None:
    """A double click, or a reload: the second is told that it was done, and there is one line of history."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "adjust")) | {"delta": "2", "reason": "found"}

    send(staff, page_of("tee", "adjust"), form)
    again = send(staff, page_of("tee", "adjust"), form)

    assert available() == 7
    assert told(again) == ["This was done already, once: +2 units. 7 are available now."]
    assert LogEntry.objects.count() == 1


def test_a_double_click_reaches_two_processes_and_moves_once(staff: Client) -> None:
    """Both requests are on their way before one of them is answered."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "adjust")) | {"delta": "2", "reason": "found"}
    path, barrier = page_of("tee", "adjust"), Barrier(2, timeout=WAIT_SECONDS)

    def click() -> int:
        client = Client()
        client.cookies = staff.cookies
        barrier.wait()
        try:
            return client.post(path, form).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        clicks = [pool.submit(click) for _ in range(2)]
        assert [click.result(WAIT_SECONDS) for click in clicks] == [302, 302]

    assert available() == 7
    prove("tee")


def test_without_the_request_id_each_click_moves(staff: Client) -> None:
    """The twin: with a new request_id for every click, the same double click moves twice."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "adjust")) | {"delta": "2", "reason": "found"}

    for click in ("first", "second"):
        send(staff, page_of("tee", "adjust"), form, request_id=click)

    assert available() == 9


def test_a_form_that_was_sent_before_asks_before_it_moves_more(staff: Client) -> None:
    """Back, another number, send: refused at first, and the next sending is a request of its own."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "adjust")) | {"delta": "2", "reason": "found"}
    send(staff, page_of("tee", "adjust"), form)

    answer = send(staff, page_of("tee", "adjust"), form, delta="3")
    assert "moved stock once already" in answer.content.decode()
    assert available() == 7

    send(staff, page_of("tee", "adjust"), form_in(answer))
    assert available() == 10


def test_seeding_brings_the_stock_to_a_number(staff: Client) -> None:
    """The first seed, and a later one while nothing is sold: each moves the difference."""
    open_sale("tee", total=0)

    for units in ("5", "3"):
        form = opened(staff, page_of("tee", "seed"))
        send(staff, page_of("tee", "seed"), form, available=units, reason="delivery")

    assert list(StockMovement.objects.order_by("seq").values_list("kind", "delta")) == [("seeded", 5), ("seeded", -2)]
    assert available() == 3


def test_seeding_over_a_sale_is_refused_until_staff_have_seen_it(staff: Client) -> None:
    """One is sold while the form is open: the form says so, and may be sent again."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "seed"))
    placing.place([wants("tee")])

    answer = send(staff, page_of("tee", "seed"), form, available="8", reason="delivery")
    assert "The stock has changed since this form was shown: 4 units are available now" in answer.content.decode()
    assert available() == 4

    send(staff, page_of("tee", "seed"), form_in(answer))
    assert available() == 8
    prove("tee")


def test_seeding_twice_by_one_form_moves_once(staff: Client) -> None:
    """A repeat is answered before versions are compared."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "seed")) | {"available": "8", "reason": "delivery"}

    send(staff, page_of("tee", "seed"), form)
    placing.place([wants("tee")])
    again = send(staff, page_of("tee", "seed"), form)

    assert told(again) == ["This was done already, once: +3 units. 7 are available now."]
    assert available() == 7


@pytest.mark.parametrize(
    ("page", "field", "wrong"),
    [
        ("adjust", "delta", {"delta": "0"}),
        ("adjust", "delta", {"delta": "1000000001"}),
        ("adjust", "delta", {"delta": "two"}),
        ("adjust", "reason", {"reason": "  "}),
        ("adjust", "reason", {"reason": "a\0b"}),
        ("adjust", "reason", {"reason": "x" * 501}),
        ("adjust", "request_id", {"request_id": ""}),
        ("adjust", "request_id", {"request_id": "x" * 129}),
        ("adjust", "__all__", {"reason": "a\nb"}),
        ("adjust", "__all__", {"delta": "999999999"}),
        ("seed", "available", {"available": "-1"}),
        ("seed", "version", {"version": ""}),
    ],
)
def test_what_is_wrong_is_an_error_of_the_form(staff: Client, page: str, field: str, wrong: dict[str, str]) -> None:
    """Never a 500, and nothing moves."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", page)) | {"delta": "1", "available": "1", "reason": "counted"}

    answer = send(staff, page_of("tee", page), form, **wrong)

    assert answer.status_code == 200
    assert list(answer.context["form"].errors) == [field]
    assert available() == 5


def test_a_product_that_is_not_there_leads_back_to_the_list(staff: Client) -> None:
    """Also for an id beyond every number of PostgreSQL."""
    for key in (7, 10**30):
        answer = staff.get(f"{PRODUCTS}{key}/adjust/", follow=True)

        assert answer.redirect_chain == [(PRODUCTS, 302)]
        assert told(answer) == ["There is no such product."]


def test_the_history_of_a_product_tells_who_moved_what(staff: Client) -> None:
    """Beside the ledger, which has it too."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "adjust"))

    send(staff, page_of("tee", "adjust"), form, delta="-1", reason="torn")

    history = staff.get(page_of("tee", "history")).content.decode()
    assert "Adjust stock: Moved -1 unit: 4 are available." in history


def test_a_long_user_name_fits_the_ledger() -> None:
    """Django's user names may be longer than the ledger's."""
    staff = sign_in(username="x" * 150)
    open_sale("tee", total=5)

    send(staff, page_of("tee", "adjust"), opened(staff, page_of("tee", "adjust")), delta="1", reason="found")

    assert StockMovement.objects.get(kind="adjusted").actor == f"staff:{'x' * 150}"[:IDENTIFIER_LENGTH_MAX]
    assert User.objects.get().username == "x" * 150
