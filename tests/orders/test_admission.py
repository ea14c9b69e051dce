"""Admission: each product's way to placing, and the lock that shapes traffic and proves nothing."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from django.conf import settings as site
from pytest_django import Settings

from inventory import admissions, services
from locking import lock
from orders import admission, group_commit, placing
from orders.command import PlaceOrder
from orders.models import Order
from orders.outcomes import Outcome
from tests.races import crowd
from tests.races.moments import SECONDS_MAX
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)

LOCK = "product:tee"


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process know no product's admission yet."""
    monkeypatch.setattr(admissions, "_learnt", {})


@pytest.fixture
def locked_sale() -> str:
    """Open a sale whose admission is `lock`, and let this process know of it."""
    open_sale("tee", total=20, admission="lock")
    admit(wants("tee", buyer="the first"))
    return "tee"


def admit(command: PlaceOrder) -> str:
    """Bring an order to placing, and say what the buyer is told."""
    return told(admission.admit(command))


def admit_many(buyer: str, count: int) -> Counter[str]:
    """Bring orders of one buyer to placing, one after the other."""
    return Counter(admit(wants("tee", buyer=buyer)) for _ in range(count))


def admit_elsewhere(command: PlaceOrder) -> str:
    """Bring an order to placing in another thread: the lock of this one is its own."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(admit, command).result()


class Turnstile:
    """Counts how many are placing at the same time."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        """Stand in front of placing."""
        self._place = placing.place
        self._mutex = threading.Lock()
        self._inside = self.most = 0
        patch.setattr(placing, "place", self.place)

    def place(self, commands: Sequence[PlaceOrder], *, deadline: float | None = None) -> list[Outcome]:
        """Count, and place."""
        with self._mutex:
            self._inside += 1
            self.most = max(self.most, self._inside)
        try:
            return self._place(commands, deadline=deadline)
        finally:
            with self._mutex:
                self._inside -= 1


# --- The way of a product -----------------------------------------------------------------------


def test_a_product_goes_its_way_as_soon_as_the_process_has_met_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking costs no query: the first order goes the default way, and brings the word."""
    open_sale("tee", total=5, admission="lock")

    assert admit(wants("tee")) == "placed"
    monkeypatch.setattr(group_commit, "submit", refuse)
    assert admit(wants("tee")) == "placed"


def refuse(command: PlaceOrder) -> Outcome:
    """Let nobody into the group commit."""
    raise AssertionError("a product with a lock has no group commit")


def test_staff_change_the_way_while_the_sale_goes_on(locked_sale: str) -> None:
    """The next order brings the new word; every way keeps every promise."""
    services.update_product(sku=locked_sale, admission="direct")

    assert admissions.of(locked_sale) == "lock"
    assert admit(wants(locked_sale)) == "placed"
    assert admissions.of(locked_sale) == "direct"


def test_an_order_of_several_products_goes_the_stricter_way(locked_sale: str) -> None:
    """Where one of them has a lock, the order takes the locks of all."""
    open_sale("cup", total=5)

    with lock(LOCK, timeout=1, ttl=30), pytest.MonkeyPatch.context() as patch:
        patch.setattr(admission, "LOCK_WAIT_SECONDS", 0.1)
        assert admit_elsewhere(wants({"cup": 1, "tee": 1})) == "busy"
        assert admit(wants("cup")) == "placed"

    assert admit(wants({"cup": 1, "tee": 1})) == "placed"
    prove()


# --- The lock -----------------------------------------------------------------------------------


def test_under_the_lock_one_order_is_placed_at_a_time(locked_sale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Serial, also with eight who come at once."""
    turnstile = Turnstile(monkeypatch)

    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(admit, [wants(locked_sale, buyer=f"b{n}") for n in range(8)]))

    assert codes == ["placed"] * 8
    assert turnstile.most == 1
    prove()


def test_under_the_lock_processes_sell_what_there_is(locked_sale: str) -> None:
    """Four processes want 24 of the 19 that are left."""
    counted = sum(crowd.race(admit_many, *[[f"b{n}", 6] for n in range(4)]), Counter[str]())

    assert counted == {"placed": 19, "sold_out": 5}
    prove()


def test_a_repeat_under_the_lock_returns_the_first_order(locked_sale: str) -> None:
    """O06: a mutex is not idempotency; the books are."""
    command = wants(locked_sale)

    assert [admit(command), admit(command)] == ["placed", "replayed"]


def test_a_lock_that_somebody_holds_is_waited_for_within_its_bound(
    locked_sale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Busy, nothing was written, and the holder still has his lock."""
    monkeypatch.setattr(admission, "LOCK_WAIT_SECONDS", 0.3)
    orders = Order.objects.count()

    with lock(LOCK, timeout=1, ttl=30) as lease:
        began = time.monotonic()
        assert admit_elsewhere(wants(locked_sale)) == "busy"
        assert 0.3 <= time.monotonic() - began < 10
        lease.verify()

    assert Order.objects.count() == orders
    assert admit(wants(locked_sale)) == "placed"


def hold_for_ever(held: Event) -> None:
    """Take the lock, and never come back."""
    with lock(LOCK, timeout=1, ttl=1.5):
        held.set()
        time.sleep(SECONDS_MAX)


def test_the_lock_of_a_dead_holder_ends_by_itself(locked_sale: str) -> None:
    """Its process is killed; the next one has the lock when the lease is over."""
    held = crowd.CONTEXT.Event()
    with crowd.one(hold_for_ever, held):
        assert held.wait(SECONDS_MAX)

    assert admit(wants(locked_sale)) == "placed"


def test_work_that_outlasts_its_lease_is_right_all_the_same(locked_sale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """O20: the lock saves work and proves nothing; without it the row lock decides."""
    monkeypatch.setattr(admission, "LOCK_TTL_SECONDS", 0.01)

    with ThreadPoolExecutor(8) as threads:
        codes = Counter(threads.map(admit, [wants(locked_sale, buyer=f"b{n}") for n in range(24)]))

    assert codes == {"placed": 19, "sold_out": 5}
    prove()


# --- Valkey away --------------------------------------------------------------------------------


def locks_at(settings: Settings, url: str) -> None:
    """Look for the locks at another server."""
    caches = deepcopy(site.CACHES)
    caches["locks"]["LOCATION"] = url
    settings.CACHES = caches


@pytest.fixture
def silent_server() -> Iterator[str]:
    """Give the URL of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


def test_without_valkey_orders_are_placed_directly(locked_sale: str, settings: Settings, tmp_path: Path) -> None:
    """Promise 6: Valkey only makes it fast."""
    locks_at(settings, f"unix://{tmp_path}/nobody.sock")

    assert admit(wants(locked_sale)) == "placed"
    prove()


def test_a_valkey_that_says_nothing_is_not_waited_for(locked_sale: str, settings: Settings, silent_server: str) -> None:
    """Short time-outs, and then directly; no buyer waits for a server that hangs."""
    locks_at(settings, silent_server)
    began = time.monotonic()

    assert admit(wants(locked_sale)) == "placed"

    assert time.monotonic() - began < 10
    prove()
