"""The audit: clean books are clean, and each kind of damage is named."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from inventory import services
from inventory.exceptions import ProductNotFound
from orders import lifecycle, placing
from orders.auditing import audit
from orders.outcomes import Placed
from tests.races.sale import open_sale, wants

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def without_protections() -> Iterator[None]:
    """Let the test write what triggers and foreign keys refuse."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        yield
        cursor.execute("SET session_replication_role = DEFAULT")


def damage(statement: str) -> None:
    """Change the books behind the back of the system."""
    with without_protections(), connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.rowcount, "the damage has to be done"


def drop_constraint(table: str, name: str) -> None:
    """Take away a constraint that would refuse the damage."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")


def a_sale() -> None:
    """Sell: five tees of which ann has two and bob one, whose order was cancelled; two were added by staff."""
    open_sale("tee", total=5)
    services.adjust(sku="tee", delta=2, reason="found two", request_id="found", actor="staff")
    placing.place([wants({"tee": 2}, buyer="ann", request_id="ann-1")])
    [outcome] = placing.place([wants("tee", buyer="bob", request_id="bob-1")])
    assert isinstance(outcome, Placed)
    lifecycle.cancel([outcome.order.id], actor="staff", note="changed his mind")


def test_clean_books_have_no_breach() -> None:
    """Seven came, two are held, five are left."""
    a_sale()

    [product] = audit(["tee"])

    assert product.breaches == []
    assert (product.seeded, product.adjusted, product.available, product.held, product.sold) == (5, 2, 5, 2, 0)


def test_free_orders_are_sold_at_once() -> None:
    """What costs nothing is confirmed, not held."""
    open_sale("coupon", total=3, price="0.00")
    placing.place([wants({"coupon": 2})])

    [product] = audit()

    assert product.breaches == []
    assert (product.available, product.held, product.sold) == (1, 0, 2)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE inventory_stock SET available = available - 1", "the movements sum up to"),
        ("UPDATE inventory_stock SET held = held + 1", "the stock row says 3 held"),
        ("UPDATE inventory_stock SET orders_total = orders_total + 1", "the stock row says 3 orders"),
        ("UPDATE inventory_stock SET ledger_seq = ledger_seq + 1", "the stock row knows 6 movements"),
        ("UPDATE inventory_stockmovement SET note = 'nothing' WHERE seq = 2", "movement 2 was changed"),
        ("UPDATE inventory_stockmovement SET delta = 3 WHERE seq = 2", "movement 2 says balance 7"),
        ("UPDATE inventory_stockmovement SET balance_after = 9 WHERE seq = 2", "movement 2 says balance 9"),
        ("UPDATE inventory_stockmovement SET actor = 'eve' WHERE seq = 4", "movement 4 was changed"),
        ("UPDATE inventory_stockmovement SET created_at = created_at - interval '1 us' WHERE seq = 1", "was changed"),
        ("UPDATE inventory_stockmovement SET previous_hash = hash WHERE seq = 3", "movement 3 is not chained"),
        ("DELETE FROM inventory_stockmovement WHERE seq = 2", "movement 3 follows 1"),
        ("DELETE FROM inventory_stockmovement WHERE seq = 5", "the ledger ends with 4"),
        ("UPDATE orders_orderline SET quantity = 3 WHERE quantity = 2", "has 3 units, the ledger placed 2"),
        ("UPDATE orders_orderline SET unit_price = 1", "has a total of"),
        ("UPDATE orders_order SET total = total + 1", "has a total of"),
        (
            "UPDATE orders_order SET status = 'cancelled', cancelled_at = now() WHERE status = 'reserved'",
            "so 2 units came back, the ledger returned 0",
        ),
        (
            "UPDATE orders_order SET status = 'reserved', cancelled_at = NULL WHERE status = 'cancelled'",
            "so 0 units came back, the ledger returned 1",
        ),
        ("UPDATE orders_buyertally SET units = units + 1 WHERE buyer = 'ann'", "the tally of buyer ann says 3"),
        ("DELETE FROM orders_buyertally WHERE buyer = 'ann'", "the tally of buyer ann says 0"),
        ("DELETE FROM orders_orderline WHERE quantity = 2", "has 0 units, the ledger placed 2"),
    ],
)
def test_each_damage_is_named(statement: str, sentence: str) -> None:
    """Whoever changes one row by hand is found out."""
    a_sale()

    damage(statement)
    [product] = audit(["tee"])

    assert any(sentence in breach for breach in product.breaches), product.breaches


def test_a_limit_that_was_passed_is_named() -> None:
    """The tally's own constraint is gone, and a buyer has more than he may."""
    open_sale("tee", total=5, limit_per_buyer=2)
    placing.place([wants({"tee": 2}, buyer="ann")])
    drop_constraint("orders_buyertally", "tally_units_are_in_the_limit")

    try:
        damage('UPDATE orders_buyertally SET "limit" = 1')
        [product] = audit(["tee"])
    finally:
        damage('UPDATE orders_buyertally SET "limit" = 2')
        with connection.cursor() as cursor:
            cursor.execute(
                "ALTER TABLE orders_buyertally ADD CONSTRAINT tally_units_are_in_the_limit "
                'CHECK ("limit" IS NULL OR units <= "limit")'
            )

    assert product.breaches == ["tee: buyer ann has 2 units, the limit was 1"]


def test_two_orders_of_one_request_are_named() -> None:
    """The unique constraint is gone, and a request has two orders."""
    open_sale("tee", total=5)
    placing.place([wants("tee", buyer="ann", request_id="one"), wants("tee", buyer="ann", request_id="two")])
    drop_constraint("orders_order", "order_one_per_buyer_and_request_id")

    try:
        damage("UPDATE orders_order SET request_id = 'one'")
        [product] = audit(["tee"])
    finally:
        damage("UPDATE orders_order SET request_id = id::text")
        with connection.cursor() as cursor:
            cursor.execute(
                "ALTER TABLE orders_order ADD CONSTRAINT order_one_per_buyer_and_request_id UNIQUE (buyer, request_id)"
            )

    assert "tee: buyer ann has 2 orders for the request one" in product.breaches


def test_an_unknown_product_is_refused() -> None:
    """There is nothing to check."""
    with pytest.raises(ProductNotFound):
        audit(["nothing"])


def test_the_command_prints_one_object() -> None:
    """Its members are those of the contract."""
    a_sale()
    out = io.StringIO()

    call_command("audit_stock", "tee", "--json", stdout=out)

    assert json.loads(out.getvalue()) == {
        "clean": True,
        "products": [
            {"sku": "tee", "seeded": 5, "adjusted": 2, "available": 5, "held": 2, "sold": 0, "breaches": []},
        ],
    }


def test_the_command_fails_with_a_line_per_breach() -> None:
    """Exit code 1, and the sentence that names what is wrong."""
    a_sale()
    damage("UPDATE inventory_stock SET held = 7")
    out = io.StringIO()

    with pytest.raises(SystemExit) as ended:
        call_command("audit_stock", stdout=out)

    assert ended.value.code == 1
    assert "BREACH tee: the stock row says 7 held, reserved orders have 2" in out.getvalue()
    assert "NOT exact" in out.getvalue()


def test_the_command_names_an_unknown_product() -> None:
    """One line, not a traceback."""
    with pytest.raises(CommandError, match="nothing"):
        call_command("audit_stock", "nothing")
