"""`manage.py seed_stock`: a product and its units in one line."""

import io
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from inventory.models import Product, Stock, StockMovement
from orders import placing
from tests.races.sale import prove, wants

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str) -> str:
    """Run the command, and give what it printed."""
    out = io.StringIO()
    call_command("seed_stock", *arguments, stdout=out)
    return out.getvalue().strip()


def test_a_missing_product_is_made_and_seeded() -> None:
    """All that a product says can be given."""
    said = run(
        *("tee", "10", "--name", "Red tee", "--price", "19.90", "--currency", "USD", "--limit", "none"),
        *("--hold-seconds", "60", "--opens-at", "2030-05-01T18:00:00Z", "--admission", "lock"),
    )

    product = Product.objects.get()
    assert said == "tee: +10 units, 10 available."
    assert (product.name, product.price, product.currency) == ("Red tee", Decimal("19.90"), "USD")
    assert (product.limit_per_buyer, product.hold_seconds, product.admission) == (None, 60, "lock")
    prove("tee")


def test_a_seeded_product_stays_as_it_is() -> None:
    """The command says so, and --force brings it to the number by a movement."""
    run("tee", "10")
    placing.place([wants("tee")])

    assert "nothing was changed" in run("tee", "20")
    assert run("tee", "20", "--force") == "tee: +11 units, 20 available."
    prove("tee")


def test_a_repeated_command_seeds_once() -> None:
    """A script that runs twice with one request id."""
    run("tee", "10", "--request-id", "night-1")

    assert "done already" in run("tee", "10", "--request-id", "night-1")
    assert StockMovement.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["tee", "-1"], "QUANTITY"),
        (["tee", "many"], "QUANTITY"),
        (["a b", "1"], "sku"),
        (["tee", "1", "--price", "cheap"], "--price"),
        (["tee", "1", "--price", "NaN"], "--price"),
        (["tee", "1", "--price", "-5"], "price"),
        (["tee", "1", "--limit", "0"], "--limit"),
        (["tee", "1", "--opens-at", "tomorrow"], "--opens-at"),
        (["tee", "1", "--opens-at", "2030-01-02T00:00:00Z", "--closes-at", "2030-01-01T00:00:00Z"], "closes"),
        (["tee", "9999999999"], "available"),
    ],
)
def test_bad_input_gets_one_clear_line(arguments: list[str], word: str) -> None:
    """Nothing is seeded."""
    with pytest.raises(CommandError, match=word):
        run(*arguments)

    assert not Stock.objects.exclude(available=0).exists()
