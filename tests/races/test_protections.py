"""What is locked, and read after the lock; the twin of each test takes that away, and shows what would happen."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from inventory import ledger, services
from orders import placing
from orders.auditing import audit
from orders.command import PlaceOrder
from orders.models import Order
from tests.races import damage, moments
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Give threads that hold no connection when they have ended."""
    with ThreadPoolExecutor(4) as executor:
        yield executor


def place(command: PlaceOrder) -> str:
    """Place one order, and say what the buyer is told."""
    [outcome] = placing.place([command])
    return told(outcome)


def result(future: "Future[str]") -> str:
    """Wait for what a buyer is told."""
    return future.result(moments.SECONDS_MAX)


def overtake(patch: pytest.MonkeyPatch, threads: ThreadPoolExecutor) -> list[str]:
    """Stop a buyer between reading and writing, and let another pass him, who is told first."""
    stop = moments.stop_before(patch, "orders.deciding.decide")
    slow = threads.submit(place, wants("tee", buyer="ann"))
    stop.wait_until_reached()
    quick = result(threads.submit(place, wants("tee", buyer="bob")))
    stop.let_go()
    return [quick, result(slow)]


# --- The row lock, and what stands behind it ----------------------------------------------------


def test_the_second_buyer_of_the_last_unit_waits_for_the_first(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """Two transactions never decide on the same unit."""
    open_sale("tee", total=1)
    stop = moments.stop_before(monkeypatch, "orders.deciding.decide")

    first = threads.submit(place, wants("tee", buyer="ann"))
    stop.wait_until_reached()
    second = threads.submit(place, wants("tee", buyer="bob"))
    moments.wait_until_blocked()
    stop.let_go()

    assert [result(first), result(second)] == ["placed", "sold_out"]
    prove("tee")


def test_without_the_row_lock_the_ledger_refuses_the_second_entry(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """The constraint behind the lock: one entry per product and number."""
    open_sale("tee", total=1)
    damage.no_row_lock(monkeypatch)

    assert overtake(monkeypatch, threads) == ["placed", "broken"]

    prove("tee")


def test_without_row_lock_and_constraint_the_last_unit_is_sold_twice(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """The twin: nothing is left to keep promise 1."""
    open_sale("tee", total=1)

    with damage.without_constraints("movement_one_per_product_and_seq"):
        damage.no_row_lock(monkeypatch)
        assert overtake(monkeypatch, threads) == ["placed", "placed"]

        assert Order.objects.count() == 2
        assert audit()[0].breaches != []


# --- Reading after the lock ---------------------------------------------------------------------


def wait_behind_an_adjustment(threads: ThreadPoolExecutor, *, delta: int) -> str:
    """Let a buyer wait for the stock row while staff take units away."""
    with transaction.atomic():
        locked = ledger.lock(["tee"])
        waiting = threads.submit(place, wants("tee"))
        moments.wait_until_blocked()
        row = locked.rows["tee"]
        entry = row.move(kind=services.Kind.ADJUSTED, delta=delta, actor="staff", now=locked.now, request_id="fix")
        ledger.write([entry], [row])
    return result(waiting)


def test_stock_is_read_after_the_lock(threads: ThreadPoolExecutor) -> None:
    """O05: who waited for the row goes on with what it says now."""
    open_sale("tee", total=1)

    assert wait_behind_an_adjustment(threads, delta=-1) == "sold_out"

    prove("tee")


def test_stock_read_before_the_lock_sells_what_is_gone(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """O05, the twin: the row is locked, but what was read is from before."""
    open_sale("tee", total=1)

    with damage.without_constraints("movement_one_per_product_and_seq"):
        damage.reading_before_the_lock(monkeypatch)
        assert wait_behind_an_adjustment(threads, delta=-1) == "placed"

        assert audit()[0].breaches != []


def wait_while_staff_withdraw(threads: ThreadPoolExecutor) -> str:
    """Let a buyer wait for the stock row while staff withdraw the product."""
    with transaction.atomic():
        ledger.lock(["tee"])
        waiting = threads.submit(place, wants("tee"))
        moments.wait_until_blocked()
        threads.submit(withdraw).result(moments.SECONDS_MAX)
    return result(waiting)


def withdraw() -> None:
    """Withdraw the product, in a thread that leaves no connection behind."""
    services.update_product(sku="tee", active=False)
    connection.close()


def test_the_product_is_read_after_the_lock(threads: ThreadPoolExecutor) -> None:
    """O05: a product that was withdrawn while a buyer waited is not sold to him."""
    open_sale("tee", total=1)

    assert wait_while_staff_withdraw(threads) == "unknown_product"

    prove("tee")


def test_a_product_read_in_the_locking_statement_is_older_than_the_lock(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """O05, the twin: READ COMMITTED reads the locked row again, and not what is joined to it."""
    open_sale("tee", total=1)
    damage.reading_while_locking(monkeypatch)

    assert wait_while_staff_withdraw(threads) == "placed"


# --- Looking for the order after the lock -------------------------------------------------------


def send_twice_at_once(threads: ThreadPoolExecutor) -> list[str]:
    """Let two equal requests wait for the same row, and give what they are told, sorted."""
    with transaction.atomic():
        ledger.lock(["tee"])
        twins = [threads.submit(place, wants("tee", request_id="one")) for _ in range(2)]
        moments.wait_until_blocked(sessions=2)
    return sorted(result(twin) for twin in twins)


def test_equal_requests_at_once_make_one_order(threads: ThreadPoolExecutor) -> None:
    """O07: the second is decided when the first has committed, and finds its order."""
    open_sale("tee", total=1)

    assert send_twice_at_once(threads) == ["placed", "replayed"]

    prove("tee")


def test_looking_for_the_order_before_the_lock_refuses_a_buyer_his_own_order(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """O07, the twin: the look-up is older than the order, so the last unit, his own, is sold out."""
    open_sale("tee", total=1)
    damage.looking_up_orders_before_the_lock(monkeypatch)

    assert send_twice_at_once(threads) == ["placed", "sold_out"]


def test_without_any_look_up_the_constraint_keeps_the_order_single(threads: ThreadPoolExecutor) -> None:
    """Promise 2 stands in PostgreSQL: a second order for the request cannot be written."""
    open_sale("tee", total=5)
    with pytest.MonkeyPatch.context() as patch:
        damage.no_look_up(patch)

        told_first, told_second = [place(wants("tee", request_id="one")) for _ in range(2)]

    assert [told_first, told_second] == ["placed", "busy"]
    assert place(wants("tee", request_id="one")) == "replayed"
    prove("tee")


def test_without_look_up_and_constraint_a_request_makes_two_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: nothing is left to keep promise 2."""
    open_sale("tee", total=5)

    with damage.without_constraints("order_one_per_buyer_and_request_id"):
        damage.no_look_up(monkeypatch)
        twice = [place(wants("tee", request_id="one")) for _ in range(2)]

        assert twice == ["placed", "placed"]
        assert audit()[0].breaches != []
