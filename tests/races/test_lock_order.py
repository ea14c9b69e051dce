"""Orders of several products meet in all directions; the twins take away the order of locks, and the reruns."""

import random
import threading
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

import pytest

from inventory.models import Stock
from orders import books, group_commit, placing
from orders.command import Line, PlaceOrder
from orders.models import Order
from tests.races import crowd, damage
from tests.races.moments import SECONDS_MAX
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)

SKUS = ("cup", "tee")


def place(command: PlaceOrder) -> str:
    """Place one order in a transaction of its own, and say what the buyer is told."""
    [outcome] = placing.place([command])
    return told(outcome)


def crossed(first: str, second: str, *, buyer: str) -> PlaceOrder:
    """Want two products, in this order: what a caller other than our own intake might make."""
    command = wants({first: 1, second: 1}, buyer=buyer)
    return PlaceOrder(command.buyer, command.request_id, (Line(first, 1), Line(second, 1)))


def place_many(rounds: int, first: str, second: str) -> Counter[str]:
    """Place as many orders of both products, one transaction each, from two threads."""
    commands = [crossed(first, second, buyer=f"{first}{n}") for n in range(rounds)]
    with ThreadPoolExecutor(2) as threads:
        return Counter(threads.map(place, commands))


def test_orders_that_name_products_in_opposite_directions() -> None:
    """O08: four threads in two processes, 500 rounds; no deadlock reaches anybody, and all are placed."""
    for sku in SKUS:
        open_sale(sku, total=500)

    results = crowd.race(place_many, [250, "cup", "tee"], [250, "tee", "cup"])

    assert sum(results, Counter[str]()) == {"placed": 500}
    assert set(Stock.objects.values_list("available", flat=True)) == {0}
    prove()


def test_five_products_in_every_order_for_a_hundred_buyers() -> None:
    """O09: none is lost to a deadlock or a serialisation failure; group commits of several processes meet."""
    skus = [open_sale(f"p{n}", total=100) for n in range(5)]

    results = crowd.race(buy_all, *[[skus, f"process{n}"] for n in range(4)])

    assert sum(results, Counter[str]()) == {"placed": 100}
    assert set(Stock.objects.values_list("available", flat=True)) == {0}
    prove()


def buy_all(skus: list[str], name: str) -> Counter[str]:
    """Let 25 buyers of this process order all products at once, each in an order of his own."""
    shuffle = random.Random(name)
    commands = []
    for n in range(25):
        command = wants(dict.fromkeys(skus, 1), buyer=f"{name}-{n}")
        lines = tuple(shuffle.sample(command.lines, len(skus)))
        commands.append(PlaceOrder(command.buyer, command.request_id, lines))
    with ThreadPoolExecutor(25) as threads:
        return Counter(told(outcome) for outcome in threads.map(group_commit.submit, commands))


# --- The twins ----------------------------------------------------------------------------------


class Meeting:
    """Lets two threads wait for each other, once; afterwards they pass."""

    def __init__(self) -> None:
        """Begin with nobody there."""
        self._barrier = threading.Barrier(2)
        self._is_over = False

    def attend(self) -> None:
        """Wait for the other one."""
        if not self._is_over:
            self._barrier.wait(SECONDS_MAX)
            self._is_over = True


def cross(patch: pytest.MonkeyPatch) -> tuple[list[str], int]:
    """Let two orders lock one row each before they ask for the other's; say what they are told, and count runs."""
    for sku in SKUS:
        open_sale(sku, total=5)
    damage.locking_in_the_order_of_the_call(patch, between=Meeting().attend)
    runs = count_runs(patch)
    with ThreadPoolExecutor(2) as threads:
        codes = threads.map(place, [crossed("cup", "tee", buyer="ann"), crossed("tee", "cup", buyer="bob")])
        return sorted(codes), len(runs)


def count_runs(patch: pytest.MonkeyPatch) -> list[None]:
    """Count the transactions that placing begins."""
    runs: list[None] = []
    read = books.read

    def count_and_read(commands: Collection[PlaceOrder]) -> books.Books:
        runs.append(None)
        return read(commands)

    patch.setattr(books, "read", count_and_read)
    return runs


def test_without_an_order_of_locks_postgresql_finds_a_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """O08, the twin: one of the two is rolled back, and lives by its rerun."""
    assert cross(monkeypatch) == (["placed", "placed"], 3)

    prove()


def test_without_an_order_of_locks_and_reruns_a_deadlock_reaches_the_buyer(monkeypatch: pytest.MonkeyPatch) -> None:
    """O08, the twin of the twin: he has to try again himself; the books are right all the same."""
    damage.no_reruns(monkeypatch)

    assert cross(monkeypatch) == (["busy", "placed"], 2)

    assert Order.objects.count() == 1
    prove()
