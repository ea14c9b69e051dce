"""The protections, each taken away by name, so that a test can show the damage it keeps off."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from django.db import connection

from inventory import ledger
from inventory.ledger import Locked, Movement, StockRow
from orders import books, deciding, placing, resetting
from orders.books import Books
from orders.command import PlaceOrder
from orders.models import Order


def no_row_lock(patch: pytest.MonkeyPatch) -> None:
    """Read the stock rows without locking them."""
    patch.setattr(ledger, "LOCK_SQL", ledger.LOCK_SQL.replace("FOR UPDATE OF stock", ""))


def reading_before_the_lock(patch: pytest.MonkeyPatch) -> None:
    """Read the stock rows, then wait for their lock, and go on with what was read."""

    def lock(skus: Collection[str]) -> Locked:
        with connection.cursor() as cursor:
            cursor.execute(ledger.READ_SQL, [list(skus)])
            rows = cursor.fetchall()
            cursor.execute(ledger.LOCK_SQL, [list(skus)])
        return _locked(rows)

    patch.setattr(ledger, "lock", lock)


def reading_while_locking(patch: pytest.MonkeyPatch) -> None:
    """Read the products in the statement that locks their stock rows."""

    def lock(skus: Collection[str]) -> Locked:
        with connection.cursor() as cursor:
            cursor.execute(LOCK_AND_READ_SQL, [list(skus)])
            return _locked(cursor.fetchall())

    patch.setattr(ledger, "lock", lock)


LOCK_AND_READ_SQL = """
    SELECT product.id, product.sku, product.price, product.currency, product.limit_per_buyer, product.hold_seconds,
           product.opens_at, product.closes_at, product.active, product.admission, stock.available, stock.held,
           stock.orders_total, stock.version, stock.ledger_seq, stock.ledger_hash, clock_timestamp()
    FROM inventory_stock AS stock JOIN inventory_product AS product ON product.id = stock.product_id
    WHERE product.sku = ANY(%s)
    ORDER BY stock.product_id
    FOR UPDATE OF stock
"""


def looking_up_orders_before_the_lock(patch: pytest.MonkeyPatch) -> None:
    """Know only those orders that were there before the stock rows were locked."""
    read = books.read

    def look_up_and_read(commands: Collection[PlaceOrder]) -> Books:
        request_ids = [command.request_id for command in commands]
        early = set(Order.objects.filter(request_id__in=request_ids).values_list("buyer", "request_id"))
        found = read(commands)
        found.orders = {key: order for key, order in found.orders.items() if key in early}
        return found

    patch.setattr(books, "read", look_up_and_read)


def locking_in_the_order_of_the_call(patch: pytest.MonkeyPatch, *, between: Callable[[], None]) -> None:
    """Lock the rows one by one, as the lines of the commands name them, with this done after each."""
    read = books.read

    def lock_and_read(commands: Collection[PlaceOrder]) -> Books:
        for line in [line for command in commands for line in command.lines]:
            ledger.lock([line.sku])
            between()
        return read(commands)

    patch.setattr(books, "read", lock_and_read)


def no_reruns(patch: pytest.MonkeyPatch) -> None:
    """Let the first conflict be the last."""
    patch.setattr(placing, "RERUNS_MAX", 0)


def no_look_up(patch: pytest.MonkeyPatch) -> None:
    """Never look whether an order exists already."""
    patch.setattr(books, "ORDERS_SQL", books.ORDERS_SQL + " WHERE false")


def no_look_at_the_stock(patch: pytest.MonkeyPatch) -> None:
    """Place whatever is there, and let the ledger go below zero."""
    move = ledger.StockRow.move

    def move_below_zero(row: StockRow, *, delta: int, **facts: Any) -> Movement:  # the arguments of `move`
        missing = max(0, -(row.available + delta))
        row.available += missing
        movement = move(row, delta=delta, **facts)
        row.available -= missing
        return msgspec.structs.replace(movement, balance_after=row.available)

    patch.setattr(deciding, "_check_stock", lambda _: None)
    patch.setattr(ledger.StockRow, "move", move_below_zero)


def no_look_at_the_limit(patch: pytest.MonkeyPatch) -> None:
    """Place however much a buyer has."""
    patch.setattr(deciding, "_check_limits", lambda *_: None)


@contextmanager
def without_constraints(*names: str) -> Iterator[None]:
    """Drop constraints for the time of the block; then empty the books, and put the constraints back."""
    with connection.cursor() as cursor:
        cursor.execute(DEFINITIONS_SQL, [list(names)])
        found = cursor.fetchall()
        assert len(found) == len(names), f"one of these is no constraint: {names}"
        for table, name, _ in found:
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    try:
        yield
    finally:
        resetting.delete_everything()
        with connection.cursor() as cursor:
            for table, name, definition in found:
                cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')


DEFINITIONS_SQL = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = ANY(%s)
"""


def _locked(rows: Sequence[tuple[Any, ...]]) -> Locked:  # the columns of READ_SQL
    return Locked({row[1]: ledger._row(*row[:-1]) for row in rows if row[1] is not None}, rows[0][-1])
