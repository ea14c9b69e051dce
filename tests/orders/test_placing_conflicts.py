"""Transactions that get in each other's way: deadlocks, serialisation failures, and a faster equal request."""

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.db.models import F
from psycopg import IsolationLevel

from inventory import ledger
from inventory.models import Stock
from orders import books, placing
from orders.books import Books
from orders.command import PlaceOrder
from orders.models import Order
from tests.races import damage, moments
from tests.races.database import reconnected
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Give threads that have ended when the test has."""
    with ThreadPoolExecutor(4) as executor:
        yield executor


def place(command: PlaceOrder) -> str:
    """Place one order, and say what the buyer is told."""
    [outcome] = placing.place([command])
    return told(outcome)


def count_runs(patch: pytest.MonkeyPatch, before: Callable[[int], None] | None = None) -> list[int]:
    """Count the runs of transactions, and do something at the beginning of each, which is told its number."""
    runs: list[int] = []
    read = books.read

    def count_and_read(commands: Collection[PlaceOrder]) -> Books:
        runs.append(len(runs) + 1)
        if before is not None:
            before(runs[-1])
        return read(commands)

    patch.setattr(books, "read", count_and_read)
    return runs


# --- Deadlocks ----------------------------------------------------------------------------------


def cross(threads: ThreadPoolExecutor, command: PlaceOrder) -> str:
    """Hold the second row of an order, and ask for its first when it has that one: PostgreSQL ends the order's wait."""
    with transaction.atomic():
        ledger.lock(["tee"])
        crossing = threads.submit(place, command)
        moments.wait_until_blocked()
        ledger.lock(["cup"])
    return crossing.result(moments.SECONDS_MAX)


def test_a_deadlock_is_run_again(monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor) -> None:
    """Somebody who keeps no order meets a placing: the buyer does not notice."""
    open_sale("cup", total=5)
    open_sale("tee", total=5)
    runs = count_runs(monkeypatch)

    assert cross(threads, wants({"cup": 1, "tee": 1})) == "placed"

    assert runs == [1, 2]
    prove()


def test_without_reruns_a_deadlock_reaches_the_buyer(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """The twin: he is told to try again, and nothing was done."""
    open_sale("cup", total=5)
    open_sale("tee", total=5)
    damage.no_reruns(monkeypatch)

    assert cross(threads, wants({"cup": 1, "tee": 1})) == "busy"

    assert not Order.objects.exists()
    prove()


# --- Serialisation failures ---------------------------------------------------------------------


def touch_the_stock() -> None:
    """Change the stock row in another session, after this one has taken its snapshot."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    with ThreadPoolExecutor(1) as other:
        other.submit(_touch).result(moments.SECONDS_MAX)


def _touch() -> None:
    Stock.objects.update(version=F("version") + 1)
    connection.close()


@pytest.mark.parametrize(("failures", "code"), [(1, "placed"), (3, "placed"), (4, "busy")])
def test_a_serialisation_failure_is_run_again_three_times(
    failures: int, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the operator's isolation is stricter than READ COMMITTED, PostgreSQL may refuse a row that has changed."""
    open_sale(total=5)
    runs = count_runs(monkeypatch, lambda run: touch_the_stock() if run <= failures else None)

    with reconnected(options={"isolation_level": IsolationLevel.REPEATABLE_READ}):
        assert place(wants("tee")) == code

    assert len(runs) == min(failures, placing.RERUNS_MAX) + 1
    prove()


# --- A faster equal request ---------------------------------------------------------------------


def overtake(patch: pytest.MonkeyPatch, threads: ThreadPoolExecutor, slow: PlaceOrder, quick: PlaceOrder) -> list[str]:
    """Stop a request between reading and writing, and let another pass it."""
    stop = moments.stop_before(patch, "orders.deciding.decide")
    behind = threads.submit(place, slow)
    stop.wait_until_reached()
    ahead = threads.submit(place, quick).result(moments.SECONDS_MAX)
    stop.let_go()
    return [ahead, behind.result(moments.SECONDS_MAX)]


def test_a_request_id_used_for_two_products_at_once_makes_one_order(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """No row stands between the two: the unique key decides, and the second run finds the first order."""
    open_sale("cup", total=5)
    open_sale("tee", total=5)
    runs = count_runs(monkeypatch)

    codes = overtake(monkeypatch, threads, wants("tee", request_id="one"), wants("cup", request_id="one"))

    assert codes == ["placed", "request_id_reused"]
    assert len(runs) == 3
    prove()


def test_an_equal_request_that_was_faster_is_replayed(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """O06: with no lock at all, both get the same order."""
    open_sale(total=5)
    damage.no_row_lock(monkeypatch)
    command = wants("tee")

    assert overtake(monkeypatch, threads, command, command) == ["placed", "replayed"]

    assert Order.objects.count() == 1
    prove()


def test_neighbours_of_a_request_that_was_overtaken_are_placed(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """The whole batch runs again, not one by one."""
    open_sale("cup", total=5)
    open_sale("tee", total=5)
    runs = count_runs(monkeypatch)
    stop = moments.stop_before(monkeypatch, "orders.deciding.decide")

    batch = threads.submit(placing.place, [wants("tee", request_id="one"), wants("tee"), wants("tee")])
    stop.wait_until_reached()
    threads.submit(place, wants("cup", request_id="one")).result(moments.SECONDS_MAX)
    stop.let_go()

    codes = [told(outcome) for outcome in batch.result(moments.SECONDS_MAX)]
    assert codes == ["request_id_reused", "placed", "placed"]
    assert len(runs) == 3
    prove()
