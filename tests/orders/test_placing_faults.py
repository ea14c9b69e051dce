"""What goes wrong with a batch or with its database, and what buyers are told: the truth, within a bound."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django import Settings

from inventory import ledger
from inventory.models import StockMovement
from orders import books, deciding, placing
from orders.command import PlaceOrder
from orders.models import Order
from orders.outcomes import Outcome
from tests.races.database import pool_of, reconnected
from tests.races.moments import SECONDS_MAX
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Give threads that have ended when the test has."""
    with ThreadPoolExecutor(4) as executor:
        yield executor


def place(*commands: PlaceOrder) -> list[str]:
    """Place a batch, and say what each buyer is told."""
    return [told(outcome) for outcome in placing.place(commands)]


def nothing_was_written() -> bool:
    """Tell whether the books are as they were when the sale was opened."""
    prove()
    return not Order.objects.exists() and StockMovement.objects.count() == 1


# --- A poisonous command ------------------------------------------------------------------------

POISON = {
    "a NUL in the buyer": wants("tee", buyer="an\0n"),
    "half a character in the buyer": wants("tee", buyer="an\ud800n"),
    "a request id too long": wants("tee", request_id="r" * 129),
}


@pytest.mark.parametrize("poison", POISON.values(), ids=POISON.keys())
def test_a_poisonous_command_cannot_refuse_its_neighbours(poison: PlaceOrder) -> None:
    """It alone is broken; the others are placed one by one."""
    open_sale(total=5)

    codes = place(wants("tee", buyer="bob"), poison, wants("tee", buyer="cleo"))

    assert codes == ["placed", "broken", "placed"]
    assert Order.objects.count() == 2
    prove()


def test_a_lone_poisonous_command_is_broken() -> None:
    """Nothing is written of it, and what broke it is kept for the log."""
    open_sale(total=5)

    assert place(POISON["a NUL in the buyer"]) == ["broken"]

    assert nothing_was_written()


# --- The last statement, and the COMMIT itself --------------------------------------------------


def fail_at_the_last_statement(patch: pytest.MonkeyPatch) -> None:
    """Let PostgreSQL refuse the update of the stock row."""
    patch.setattr(ledger, "WRITE_SQL", "SELECT 1 / 0, %s::json")


def fail_at_the_commit(patch: pytest.MonkeyPatch) -> None:
    """Let a deferred foreign key fail: the COMMIT is refused after all statements were good."""
    no_such_order = "request_id, gen_random_uuid(), created_at,\n           decode"
    patch.setattr(ledger, "APPEND_SQL", ledger.APPEND_SQL.replace(ORDER_ID, no_such_order))


ORDER_ID = "request_id, order_id, created_at,\n           decode"


def fail_after_writing(patch: pytest.MonkeyPatch) -> None:
    """Let our own code fail when everything is written."""
    write = books.write

    def write_and_fail(read: books.Books) -> None:
        write(read)
        raise RuntimeError("nobody foresaw this")

    patch.setattr(books, "write", write_and_fail)


@pytest.mark.parametrize("fail", [fail_at_the_last_statement, fail_at_the_commit, fail_after_writing])
def test_after_a_failure_at_the_end_the_repeat_creates_the_order(fail: Callable[[pytest.MonkeyPatch], None]) -> None:
    """I15: what failed has left nothing behind, and does not stand in the way of its own repeat."""
    open_sale(total=5)
    command = wants("tee")

    with pytest.MonkeyPatch.context() as patch:
        fail(patch)
        assert place(command) == ["broken"]
        assert nothing_was_written()

    assert place(command) == ["placed"]
    prove()


# --- Waits that are too long --------------------------------------------------------------------


def place_within_bound(threads: ThreadPoolExecutor, settings: Settings) -> str:
    """Place an order whose deadline is short, and check that it was kept."""
    settings.PLACING_DEADLINE_SECONDS = 0.6
    began = time.monotonic()
    [code] = threads.submit(place, wants("tee")).result(SECONDS_MAX)
    assert time.monotonic() - began < 10
    return code


def test_a_row_that_somebody_holds_is_waited_for_within_the_deadline(
    threads: ThreadPoolExecutor, settings: Settings
) -> None:
    """Busy, and nothing was written."""
    open_sale(total=5)

    with transaction.atomic():
        ledger.lock(["tee"])
        assert place_within_bound(threads, settings) == "busy"

    assert nothing_was_written()


def test_a_statement_that_takes_too_long_is_ended_by_the_server(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor, settings: Settings
) -> None:
    """Busy: the server says that it has ended it."""
    open_sale(total=5)
    monkeypatch.setattr(books, "ORDERS_SQL", "SELECT pg_sleep(30), %s::text[], %s::text[]")

    assert place_within_bound(threads, settings) == "busy"

    assert nothing_was_written()


def test_an_exhausted_pool_is_busy(threads: ThreadPoolExecutor) -> None:
    """Who finds no connection in time has done nothing."""
    open_sale(total=5)

    with reconnected(options=pool_of(1, wait_seconds=0.3)):
        connection.ensure_connection()
        assert threads.submit(place, wants("tee")).result(SECONDS_MAX) == ["busy"]

    assert nothing_was_written()


# --- A connection that is taken away ------------------------------------------------------------


def end_sessions(patch: pytest.MonkeyPatch, *, times: int) -> None:
    """Let an operator end the session of a placing that has just decided, this many times."""
    decide = deciding.decide
    ended: list[int] = []

    def decide_and_lose(*arguments: Any, **options: Any) -> list[Outcome]:  # those of `decide`
        outcomes = decide(*arguments, **options)
        if len(ended) < times:
            ended.append(connection.connection.info.backend_pid)
            with ThreadPoolExecutor(1) as operator:
                operator.submit(_end_session, ended[-1]).result(SECONDS_MAX)
        return outcomes

    patch.setattr(deciding, "decide", decide_and_lose)


def _end_session(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    connection.close()


def test_a_session_ended_in_its_transaction_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The buyer does not notice: his order is placed by the second run, once."""
    open_sale(total=5)
    end_sessions(monkeypatch, times=1)

    assert place(wants("tee"), wants("tee")) == ["placed", "placed"]

    assert Order.objects.count() == 2
    prove()


def test_a_thread_that_is_ended_in_its_transaction_leaves_nothing(threads: ThreadPoolExecutor) -> None:
    """I03: no lock, no connection, no trace; the repeat is placed at once."""
    open_sale(total=5)
    command = wants("tee")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(books, "write", end_the_thread)
        with pytest.raises(SystemExit):
            placing.place([command])

    assert connection.connection is None
    assert nothing_was_written()
    assert threads.submit(place, command).result(SECONDS_MAX) == ["placed"]


def end_the_thread(read: books.Books) -> None:
    """End the thread, as a server that is shutting down may."""
    raise SystemExit


def test_sessions_that_are_always_ended_come_to_an_end(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Runs are bounded; whether a COMMIT was on its way decides between busy and unknown, and nothing is written."""
    settings.PLACING_DEADLINE_SECONDS = 2.0
    open_sale(total=5)
    end_sessions(monkeypatch, times=10_000)

    assert place(wants("tee"))[0] in {"busy", "unknown"}

    assert nothing_was_written()
