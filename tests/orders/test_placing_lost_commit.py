"""The connection is lost during COMMIT: the books alone know what became of it, and they are asked."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pytest_django import Settings

from orders import placing
from orders.bounded import BoundedConnection
from orders.command import PlaceOrder
from orders.models import Order
from tests.races.database import Cut, over_a_wire
from tests.races.moments import SECONDS_MAX
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


def place_with(cut: Cut, *commands: PlaceOrder) -> list[str]:
    """Place a batch whose COMMIT meets this."""
    with over_a_wire() as wire:
        wire.cut_next(cut)
        return [told(outcome) for outcome in placing.place(commands)]


def test_a_commit_that_never_arrived_is_made_again() -> None:
    """Nothing was committed; the second run places the order."""
    open_sale(total=5)

    assert place_with(Cut.BEFORE, wants("tee")) == ["placed"]

    assert Order.objects.count() == 1
    prove()


def test_a_commit_whose_answer_was_lost_is_found() -> None:
    """It was committed; the second run finds the order, and the buyer gets it: there is one."""
    open_sale(total=5)

    assert place_with(Cut.AFTER, wants("tee")) == ["replayed"]

    assert Order.objects.count() == 1
    prove()


@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
def test_a_whole_batch_survives_a_lost_commit(cut: Cut) -> None:
    """Each of the batch is told the truth: the order he has, or the refusal."""
    open_sale(total=2)
    batch = [wants("tee", buyer=buyer) for buyer in ("ann", "bob", "cleo")]

    codes = place_with(cut, *batch)

    assert codes == (["placed"] * 2 if cut is Cut.BEFORE else ["replayed"] * 2) + ["sold_out"]
    assert set(Order.objects.values_list("buyer", flat=True)) == {"ann", "bob"}
    prove()


@pytest.mark.parametrize(("cut", "then"), [(Cut.SILENT_BEFORE, "placed"), (Cut.SILENT_AFTER, "replayed")])
def test_a_silent_commit_is_unknown_by_the_deadline(cut: Cut, then: str, settings: Settings) -> None:
    """Nobody waits for ever, nobody is told a guess, and the repeat tells the truth."""
    settings.PLACING_DEADLINE_SECONDS = 0.7
    open_sale(total=5)
    command = wants("tee")
    began = time.monotonic()

    assert place_with(cut, command) == ["unknown"]

    assert time.monotonic() - began < 10
    settings.PLACING_DEADLINE_SECONDS = 10.0
    assert [told(repeat) for repeat in placing.place([command])] == [then]
    assert Order.objects.count() == 1
    prove()


def test_without_the_bound_of_the_client_a_silent_commit_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """The twin: the server's own time-outs cannot end the wait for a server that says nothing."""
    settings.PLACING_DEADLINE_SECONDS = 0.5
    monkeypatch.delattr(BoundedConnection, "wait")
    open_sale(total=5)

    with ThreadPoolExecutor(1) as thread:
        with over_a_wire() as wire:
            wire.cut_next(Cut.SILENT_BEFORE)
            placed = thread.submit(placing.place, [wants("tee")])
            with pytest.raises(TimeoutError):
                placed.result(2.0)

        assert [told(outcome) for outcome in placed.result(SECONDS_MAX)] == ["unknown"]
