"""Many processes send one buyer's requests: the same one, or one each, all at once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from inventory.models import Admission, Stock
from orders import admission, group_commit
from orders.command import PlaceOrder
from orders.models import BuyerTally, Order
from orders.outcomes import Placed
from tests.races import crowd, damage
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


def submit(command: PlaceOrder) -> str:
    """Submit one order, and say what the buyer is told."""
    return told(group_commit.submit(command))


def submit_at_once(*commands: PlaceOrder) -> list[tuple[str, str]]:
    """Submit orders from as many threads; say what each buyer is told, and show the order he is given."""
    with ThreadPoolExecutor(len(commands)) as threads:
        outcomes = list(threads.map(group_commit.submit, commands))
    return [
        (told(outcome), msgspec.json.encode(outcome.order).decode() if isinstance(outcome, Placed) else "")
        for outcome in outcomes
    ]


# --- One request --------------------------------------------------------------------------------


def test_two_tabs_one_after_the_other() -> None:
    """O06: the second gets its turn when the first has let go of every lock; it still is the same request."""
    open_sale(total=5)
    command = wants("tee")

    first = crowd.race(submit, [command])
    second = crowd.race(submit, [command])

    assert first + second == ["placed", "replayed"]
    prove()


def test_the_same_call_from_two_processes_within_a_millisecond() -> None:
    """O07: one order, and both get it."""
    open_sale(total=99)
    commands = [wants("tee", buyer=f"b{n}") for n in range(20)]

    results = crowd.race(submit_at_once, commands, commands)

    for (code, order), (twin_code, twin_order) in zip(*results, strict=True):
        assert {code, twin_code} == {"placed", "replayed"}
        assert order == twin_order
    assert Order.objects.count() == 20
    prove()


def test_fifty_first_requests_in_parallel() -> None:
    """I06: one order and fifty equal answers; the ledger's last unit is not sold out for its own buyer."""
    open_sale(total=1, limit_per_buyer=1)
    command = wants("tee")

    results = [answer for process in crowd.race(submit_at_once, *[[command] * 10] * 5) for answer in process]

    assert Counter(code for code, _ in results) == {"placed": 1, "replayed": 49}
    assert len({order for _, order in results}) == 1
    assert Order.objects.count() == 1
    prove()


def test_fifty_first_requests_without_a_row_lock() -> None:
    """I06: PostgreSQL's unique key alone suffices; it costs reruns, and nobody gets a second order or an error."""
    open_sale(total=99)
    command = wants("tee")

    crowded = crowd.race(submit_at_once, *[[command] * 10] * 5, damage=damage.no_row_lock)

    codes = Counter(code for process in crowded for code, _ in process)
    assert codes["placed"] == 1
    assert set(codes) <= {"placed", "replayed", "busy"}
    assert Order.objects.count() == 1
    prove()


# --- One buyer with many requests ---------------------------------------------------------------


def test_two_tabs_with_a_request_id_each() -> None:
    """O14: under a limit of one they make one order."""
    open_sale(total=9, limit_per_buyer=1)

    codes = crowd.race(submit, [wants("tee")], [wants("tee")])

    assert sorted(codes) == ["placed", "purchase_limit"]
    assert BuyerTally.objects.get().units == 1
    prove()


def click(*commands: PlaceOrder) -> list[str]:
    """Send orders one after the other, each in the way of its product."""
    return [told(admission.admit(command)) for command in commands]


@pytest.mark.parametrize("way", Admission.values)
def test_a_hundred_clicks_of_one_buyer(way: str) -> None:
    """O16: with a hundred request ids, a limit of one and a stock of a hundred, 99 stay for the others."""
    open_sale(total=100, limit_per_buyer=1, admission=way)

    clicks = crowd.race(click, *[[wants("tee") for _ in range(20)] for _ in range(5)])

    assert Counter(code for codes in clicks for code in codes) == {"placed": 1, "purchase_limit": 99}
    assert Stock.objects.get().available == 99
    prove()
