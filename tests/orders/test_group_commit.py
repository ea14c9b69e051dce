"""The group commit: who waits, who leads, how long, and what each is told."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.db import transaction
from pytest_django import Settings

from config.embedded.server import wait_until
from inventory import ledger
from orders import group_commit, placing
from orders.command import PlaceOrder
from orders.models import Order
from orders.outcomes import Outcome
from tests.races import moments
from tests.races.database import pool_of, reconnected
from tests.races.moments import SECONDS_MAX
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Give threads that have ended when the test has."""
    with ThreadPoolExecutor(64) as executor:
        yield executor
    assert group_commit.queue_lengths() == {}


def submit(command: PlaceOrder) -> str:
    """Submit one order, and say what the buyer is told."""
    return told(group_commit.submit(command))


def wait_until_queued(length: int, *, lane: str = "tee") -> None:
    """Wait until this many commands are queued in a lane."""
    assert wait_until(lambda: group_commit.queue_lengths().get(lane) == length, seconds=SECONDS_MAX)


def results(futures: "Sequence[Future[str]]") -> list[str]:
    """Wait for what buyers are told."""
    return [future.result(SECONDS_MAX) for future in futures]


def record_batches(patch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Record the length of each batch, and the thread that placed it."""
    batches: list[tuple[int, int]] = []
    place = placing.place

    def record_and_place(commands: Sequence[PlaceOrder]) -> list[Outcome]:
        batches.append((len(commands), threading.get_ident()))
        return place(commands)

    patch.setattr(placing, "place", record_and_place)
    return batches


# --- Batches ------------------------------------------------------------------------------------


def test_a_lone_request_is_placed_by_its_own_thread_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for company: no timer, no other thread."""
    open_sale(total=5)
    batches = record_batches(monkeypatch)

    assert submit(wants("tee")) == "placed"

    assert batches == [(1, threading.get_ident())]
    assert group_commit.queue_lengths() == {}


def test_while_one_batch_is_on_its_way_the_next_gathers(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor, settings: Settings
) -> None:
    """Thirty who wait become batches of at most ten, in the order of their arrival, each led by one of its own."""
    settings.PLACING_BATCH_MAX = 10
    open_sale(total=31)
    stop = moments.stop_before(monkeypatch, "orders.placing.place")
    batches = record_batches(monkeypatch)

    first = threads.submit(submit, wants("tee", buyer="first"))
    stop.wait_until_reached()
    others = [threads.submit(submit, wants("tee", buyer=f"b{n}")) for n in range(30)]
    wait_until_queued(30)
    stop.let_go()

    assert results([first, *others]) == ["placed"] * 31
    assert [length for length, _ in batches] == [1, 10, 10, 10]
    assert len({thread for _, thread in batches}) == 4
    prove()


def test_equal_requests_that_wait_together_make_one_order(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    """I06: in one batch or in two, all of them get it."""
    open_sale(total=5)
    stop = moments.stop_before(monkeypatch, "orders.placing.place")

    futures = [threads.submit(submit, wants("tee", request_id="one")) for _ in range(20)]
    wait_until_queued(19)
    stop.let_go()

    assert sorted(results(futures)) == ["placed"] + ["replayed"] * 19
    assert Order.objects.count() == 1
    prove()


def test_those_who_wait_hold_no_connection(threads: ThreadPoolExecutor) -> None:
    """Sixty-four threads, eight lanes and two connections: all are placed."""
    skus = [open_sale(f"p{n}", total=8) for n in range(8)]
    with reconnected(options=pool_of(2, wait_seconds=20)):
        commands = [wants(sku, buyer=f"b{n}") for sku in skus for n in range(8)]

        assert results([threads.submit(submit, command) for command in commands]) == ["placed"] * 64

    prove()


# --- Lanes --------------------------------------------------------------------------------------


def test_a_product_whose_row_is_held_does_not_delay_another(threads: ThreadPoolExecutor) -> None:
    """O21: two orders for different products never wait for each other."""
    open_sale("held", total=5)
    open_sale("tee", total=5)

    with transaction.atomic():
        ledger.lock(["held"])
        behind = threads.submit(submit, wants("held"))
        moments.wait_until_blocked()
        assert threads.submit(submit, wants("tee")).result(SECONDS_MAX) == "placed"
        assert not behind.done()

    assert behind.result(SECONDS_MAX) == "placed"
    prove()


def test_orders_of_several_products_have_a_lane_of_their_own(threads: ThreadPoolExecutor) -> None:
    """O21: one that waits for its first row holds up neither its other products nor their lanes."""
    open_sale("held", total=5)
    open_sale("tee", total=5)

    with transaction.atomic():
        ledger.lock(["held"])
        behind = threads.submit(submit, wants({"held": 1, "tee": 1}))
        moments.wait_until_blocked()
        assert group_commit.queue_lengths() == {group_commit.SHARED_LANE: 0}
        assert threads.submit(submit, wants("tee")).result(SECONDS_MAX) == "placed"

    assert behind.result(SECONDS_MAX) == "placed"
    prove()


def test_a_full_lane_is_busy_at_once(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor, settings: Settings
) -> None:
    """A queue has a limit; who finds it full has done nothing. Another lane has room."""
    settings.PLACING_LANE_MAX = 2
    open_sale("tee", total=5)
    open_sale("cup", total=5)
    stop = moments.stop_before(monkeypatch, "orders.placing.place")
    futures = [threads.submit(submit, wants("tee", buyer=buyer)) for buyer in ("ann", "bob", "cleo")]
    wait_until_queued(2)

    assert submit(wants("tee", buyer="dan")) == "busy"
    assert submit(wants("cup", buyer="dan")) == "placed"
    stop.let_go()

    assert results(futures) == ["placed"] * 3
    assert not Order.objects.filter(buyer="dan", lines__product__sku="tee").exists()


# --- Giving up ----------------------------------------------------------------------------------


def test_who_waits_too_long_in_the_queue_gives_up(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor, settings: Settings
) -> None:
    """Busy: what is only queued was never begun. Who repeats a request that is running is told so."""
    settings.PLACING_WAIT_SECONDS = 0.2
    open_sale(total=5)
    stop = moments.stop_before(monkeypatch, "orders.placing.place")
    running = threads.submit(submit, wants("tee", request_id="one"))
    stop.wait_until_reached()

    assert submit(wants("tee", request_id="two")) == "busy"
    assert submit(wants("tee", request_id="one")) == "request_in_progress"
    assert submit(wants("tee", buyer="bob", request_id="one")) == "busy"
    stop.let_go()

    assert running.result(SECONDS_MAX) == "placed"
    assert Order.objects.count() == 1


def take_two(patch: pytest.MonkeyPatch, threads: ThreadPoolExecutor) -> "tuple[moments.Stop, list[Future[str]]]":
    """Let a second batch of two be taken, led by the one of them who came first, and stop it."""
    open_sale(total=5)
    first = moments.stop_before(patch, "orders.placing.place", turn=1)
    second = moments.stop_before(patch, "orders.placing.place", turn=2)
    threads.submit(submit, wants("tee", buyer="first"))
    first.wait_until_reached()
    taken = []
    for length, buyer in enumerate(("leader", "follower"), start=1):
        taken.append(threads.submit(submit, wants("tee", buyer=buyer)))
        wait_until_queued(length)
    first.let_go()
    second.wait_until_reached()
    return second, taken


def test_who_was_taken_waits_for_the_outcome(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor, settings: Settings
) -> None:
    """The wait in the queue is over, but the batch is on its way: it is waited for."""
    settings.PLACING_WAIT_SECONDS = 1.5
    second, (leader, follower) = take_two(monkeypatch, threads)

    with pytest.raises(TimeoutError):
        follower.result(2.0)
    second.let_go()

    assert results([leader, follower]) == ["placed", "placed"]


def test_who_was_taken_by_a_batch_that_does_not_end_knows_nothing(
    monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor, settings: Settings
) -> None:
    """After the deadline and its grace the outcome is unknown; it may still come true."""
    settings.PLACING_WAIT_SECONDS = 1.5
    second, (leader, follower) = take_two(monkeypatch, threads)

    settings.PLACING_DEADLINE_SECONDS = 0.2
    assert follower.result(SECONDS_MAX) == "unknown"
    settings.PLACING_DEADLINE_SECONDS = 20.0
    second.let_go()

    assert leader.result(SECONDS_MAX) == "placed"
    assert Order.objects.count() == 3
