"""Many processes want what is left of one product; each test has its twin, in which nothing protects it."""

import time
from collections import Counter
from multiprocessing.synchronize import Barrier

import pytest

from inventory.models import Stock
from orders import books, group_commit
from orders.auditing import audit
from orders.command import PlaceOrder
from orders.models import Order
from tests.races import crowd, damage
from tests.races.moments import SECONDS_MAX
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


def submit(command: PlaceOrder) -> str:
    """Submit one order, and say what the buyer is told."""
    return told(group_commit.submit(command))


def available() -> int:
    """Give the units that can be bought."""
    return Stock.objects.get().available


def test_two_who_want_two_of_three() -> None:
    """O01: one gets them, one does not, and one unit is left."""
    open_sale(total=3)

    codes = crowd.race(submit, *[[wants({"tee": 2}, buyer=buyer)] for buyer in ("ann", "bob")])

    assert sorted(codes) == ["placed", "sold_out"]
    assert available() == 1
    prove()


def test_ten_processes_and_the_last_unit() -> None:
    """O02: one is placed, nine are sold out, and nobody is told anything else."""
    open_sale(total=1)

    codes = crowd.race(submit, *[[wants("tee", buyer=f"b{n}")] for n in range(10)])

    assert Counter(codes) == {"placed": 1, "sold_out": 9}
    assert available() == 0
    prove()


def submit_when_all_have_read(command: PlaceOrder, all_have_read: Barrier) -> str:
    """Submit an order, and write it when everybody has read what there is."""
    write = books.write

    def write_later(read: books.Books) -> None:
        all_have_read.wait(SECONDS_MAX)
        write(read)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(books, "write", write_later)
        return submit(command)


def test_ten_processes_without_a_row_lock_oversell_the_last_unit() -> None:
    """O02, the twin: with neither the lock nor the ledger's constraint, all of them are told that they have it."""
    open_sale(total=1)

    with damage.without_constraints("movement_one_per_product_and_seq"):
        all_have_read = crowd.CONTEXT.Barrier(10)
        buyers = [[wants("tee", buyer=f"b{n}"), all_have_read] for n in range(10)]
        codes = crowd.race(submit_when_all_have_read, *buyers, damage=damage.no_row_lock)

        assert codes == ["placed"] * 10
        assert audit()[0].breaches != []


def buy_for(seconds: float, number: int) -> Counter[str]:
    """Order one to three units again and again, for a while, and count units and answers."""
    counted: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        units = 1 + counted.total() % 3
        code = submit(wants({"tee": units}, buyer=f"b{number}"))
        counted[code] += 1
        counted["units"] += units if code == "placed" else 0
    return counted


@pytest.mark.parametrize("seconds", [3.0, pytest.param(10.0, marks=pytest.mark.soak)])
def test_eighteen_processes_on_one_product(seconds: float) -> None:
    """O04: at the end nothing is left, and nothing below that."""
    open_sale(total=300)

    counted = sum(crowd.race(buy_for, *[[seconds, n] for n in range(18)]), Counter[str]())

    assert available() == 0
    assert counted["units"] == 300
    assert set(counted) == {"placed", "sold_out", "units"}
    assert Order.objects.count() == counted["placed"]
    prove()
