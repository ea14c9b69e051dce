"""What is decided wrongly cannot be written; the twin of each test drops the constraint, and shows the damage."""

import pytest

from inventory.models import Stock
from orders import placing
from orders.auditing import audit
from orders.command import PlaceOrder
from orders.models import BuyerTally
from tests.races import damage
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)

NOT_NEGATIVE = (
    "stock_available_is_not_negative",
    "inventory_stock_available_check",
    "movement_balance_is_not_negative",
    "inventory_stockmovement_balance_after_check",
)


def place(command: PlaceOrder) -> str:
    """Place one order, and say what the buyer is told."""
    [outcome] = placing.place([command])
    return told(outcome)


def test_the_constraint_refuses_what_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Promise 1 stands in PostgreSQL: a placing that forgot to look cannot write what it decided."""
    open_sale("tee", total=1)
    damage.no_look_at_the_stock(monkeypatch)

    assert place(wants({"tee": 2})) == "broken"

    prove("tee")


def test_without_the_constraint_the_stock_goes_below_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: oversold, and the audit says so."""
    open_sale("tee", total=1)

    with damage.without_constraints(*NOT_NEGATIVE):
        damage.no_look_at_the_stock(monkeypatch)
        assert place(wants({"tee": 2})) == "placed"

        assert Stock.objects.get().available == -1
        assert "oversold" in audit()[0].breaches[0]


def test_the_constraint_refuses_what_is_over_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Promise 3 stands in PostgreSQL: the buyer's tally carries the limit it was placed under."""
    open_sale("tee", total=5, limit_per_buyer=1)
    damage.no_look_at_the_limit(monkeypatch)

    assert [place(wants("tee")), place(wants("tee"))] == ["placed", "broken"]

    prove("tee")


def test_without_the_constraint_a_buyer_passes_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: two units under a limit of one, and the audit says so."""
    open_sale("tee", total=5, limit_per_buyer=1)

    with damage.without_constraints("tally_units_are_in_the_limit"):
        damage.no_look_at_the_limit(monkeypatch)
        assert [place(wants("tee")), place(wants("tee"))] == ["placed", "placed"]

        assert BuyerTally.objects.get().units == 2
        assert "the limit was 1" in audit()[0].breaches[0]
