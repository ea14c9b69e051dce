"""Resetting: the sale begins anew, and nothing is deleted."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from inventory import services
from inventory.models import Product, Stock, StockMovement
from orders import placing, resetting
from orders.models import Order
from tests.races.sale import open_sale, prove, wants

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str) -> str:
    """Run reset_stock, and give what it printed."""
    out = io.StringIO()
    call_command("reset_stock", *arguments, stdout=out)
    return out.getvalue()


def available(sku: str) -> int:
    """Give the units that can be bought."""
    return Stock.objects.get(product__sku=sku).available


def test_a_reset_of_what_was_seeded_away_ends_with_nothing() -> None:
    """Five adjusted in and six seeded away: there is no less than nothing."""
    open_sale("tee", total=1)
    services.adjust(sku="tee", delta=5, reason="found", request_id="found", actor="staff")
    services.seed(sku="tee", available=0, request_id="away", actor="staff", if_versions=services.ANY)

    [reset] = resetting.reset(["tee"])

    assert (reset.available, available("tee")) == (0, 0)
    prove("tee")


def test_a_reset_brings_back_what_was_seeded() -> None:
    """Orders are cancelled, adjustments are undone by a movement of their own."""
    open_sale("tee", total=10)
    services.adjust(sku="tee", delta=-3, reason="broken", request_id="broken", actor="staff")
    placing.place([wants({"tee": 4}), wants("tee", buyer="bob")])

    said = run("tee", "--noinput")

    assert "2 orders cancelled, 10 available" in said
    assert available("tee") == 10
    assert set(Order.objects.values_list("status", flat=True)) == {"cancelled"}
    prove()


def test_all_lines_of_an_order_return() -> None:
    """An order that has a line of the product is cancelled whole."""
    open_sale("tee", total=5)
    open_sale("cap", total=5)
    placing.place([wants({"tee": 1, "cap": 2}), wants("cap", buyer="bob")])

    resetting.reset(["tee"])

    assert (available("tee"), available("cap")) == (5, 4)
    prove()


def test_a_second_reset_moves_nothing() -> None:
    """The ledger does not grow."""
    open_sale("tee", total=5)
    placing.place([wants("tee")])
    resetting.reset(["tee"])
    entries = StockMovement.objects.count()

    resetting.reset(["tee"])

    assert StockMovement.objects.count() == entries


def test_more_orders_than_a_batch_are_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches follow one another until none is live."""
    monkeypatch.setattr("orders.lifecycle.CANCEL_BATCH_MAX", 3)
    open_sale("tee", total=10)
    placing.place([wants("tee") for _ in range(8)])

    [done] = resetting.reset(["tee"])

    assert (done.cancelled, done.available) == (8, 10)
    prove("tee")


def test_a_reset_asks_somebody_or_needs_noinput() -> None:
    """Where nobody can be asked, nothing is changed."""
    open_sale("tee", total=5)

    with pytest.raises(CommandError, match="--noinput"):
        run("tee")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--noinput"], "name products"),
        (["tee", "--all", "--noinput"], "name products"),
        (["nothing", "--noinput"], "no such product"),
        (["tee", "--delete", "--noinput"], "--all"),
        (["--all", "--delete", "--noinput"], "DEBUG"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], word: str) -> None:
    """One clear line each."""
    with pytest.raises(CommandError, match=word):
        run(*arguments)


@override_settings(DEBUG=True)
def test_a_development_site_can_be_emptied() -> None:
    """Products, orders and ledgers are gone."""
    open_sale("tee", total=5)
    placing.place([wants("tee")])

    run("--all", "--delete", "--noinput")

    assert (Product.objects.count(), Order.objects.count(), StockMovement.objects.count()) == (0, 0, 0)
