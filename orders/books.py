"""Read what a batch of commands needs of the books, and write what was decided: a fixed number of SQL statements.

Rows travel as one JSON parameter per statement: its length does not change the statement, and PostgreSQL unpacks it
faster than a client can spell out a thousand parameters.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from django.db import connection

from inventory import ledger
from inventory.ledger import Movement, StockRow
from orders.command import PlaceOrder
from orders.outcomes import PlacedLine, PlacedOrder

#: (product id, buyer)
TallyKey = tuple[int, str]


@dataclass(slots=True)
class Books:
    """What one transaction has read under its locks, and what it has decided to write."""

    now: datetime
    #: Stock rows with their products, by sku.
    rows: dict[str, StockRow]
    #: By (buyer, request_id): the fingerprint of the request that made the order, and the order.
    orders: dict[tuple[str, str], tuple[str, PlacedOrder]]
    #: Units in live orders; a buyer without a tally has none.
    tallies: dict[TallyKey, int]
    placed: list[PlacedOrder] = field(default_factory=list)
    movements: list[Movement] = field(default_factory=list)


def read(commands: Collection[PlaceOrder]) -> Books:
    """Lock the stock rows of all products of the batch, then read all that it needs; four statements.

    The look-up of orders stands after the lock: an equal request of another process has committed by then, or waits.
    """
    locked = ledger.lock({line.sku for command in commands for line in command.lines})
    keys = {command.key for command in commands}
    wanted = {
        (locked.rows[line.sku].product_id, command.buyer)
        for command in commands
        for line in command.lines
        if line.sku in locked.rows
    }
    # Both are sent before either is waited for: in a pipeline that is one round trip.
    with connection.cursor() as orders, connection.cursor() as tallies:
        orders.execute(ORDERS_SQL, [[buyer for buyer, _ in keys], [request_id for _, request_id in keys]])
        tallies.execute(TALLIES_SQL, [[product_id for product_id, _ in wanted], [buyer for _, buyer in wanted]])
        return Books(
            now=locked.now,
            rows=locked.rows,
            orders=dict(_keyed(fingerprint, _order(*facts)) for fingerprint, *facts in orders.fetchall()),
            tallies={(product_id, buyer): units for product_id, buyer, units in tallies.fetchall()},
        )


def _keyed(fingerprint: str, order: PlacedOrder) -> tuple[tuple[str, str], tuple[str, PlacedOrder]]:
    return (order.buyer, order.request_id), (fingerprint, order)


def _order(lines: str, *facts: Any) -> PlacedOrder:  # the columns of ORDERS_SQL
    id_, request_id, buyer, status, *rest = facts
    return PlacedOrder(id_, request_id, buyer, status, msgspec.json.decode(lines, type=tuple[PlacedLine, ...]), *rest)


# OFFSET 0 keeps the look-up inside the loop over the keys, one probe of the unique index each: without it, a planner
# that still believes the table to be small reads all of it.
ORDERS_SQL = """
    SELECT found.fingerprint, line.lines::text, found.id, found.request_id, found.buyer, found.status, found.total,
           found.currency, found.created_at, found.expires_at, found.confirmed_at, found.cancelled_at, found.expired_at
    FROM unnest(%s::text[], %s::text[]) AS wanted (buyer, request_id)
    CROSS JOIN LATERAL (
        SELECT * FROM orders_order AS placed
        WHERE placed.buyer = wanted.buyer AND placed.request_id = wanted.request_id OFFSET 0) AS found
    CROSS JOIN LATERAL (
        SELECT json_agg(json_build_object('product', product.sku, 'quantity', line.quantity,
                                          'unit_price', line.unit_price::text)
                        ORDER BY product.sku COLLATE "C") AS lines
        FROM orders_orderline AS line JOIN inventory_product AS product ON product.id = line.product_id
        WHERE line.order_id = found.id) AS line
"""


TALLIES_SQL = """
    SELECT found.product_id, found.buyer, found.units
    FROM unnest(%s::bigint[], %s::text[]) AS wanted (product_id, buyer)
    CROSS JOIN LATERAL (
        SELECT * FROM orders_buyertally AS tally
        WHERE tally.product_id = wanted.product_id AND tally.buyer = wanted.buyer OFFSET 0) AS found
"""


def write(books: Books) -> None:
    """Write the orders that were placed, their lines, tallies and movements, and the stock rows; five statements.

    Rows are sorted by their unique keys, so that two batches that meet on a key wait in one order. The stock rows,
    the busiest, come last.
    """
    placed = sorted(books.placed, key=lambda order: (order.buyer, order.request_id))
    _insert(ORDERS_INSERT, (_order_row(order, books) for order in placed))
    _insert(LINES_INSERT, (row for order in placed for row in _line_rows(order, books)))
    _insert(TALLIES_UPSERT, _tally_rows(books))
    skus = {line.product for order in placed for line in order.lines}
    ledger.write(books.movements, [books.rows[sku] for sku in skus])


def _insert(statement: str, rows: Iterable[dict[str, Any]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [msgspec.json.encode(list(rows)).decode()])


def _order_row(order: PlacedOrder, books: Books) -> dict[str, Any]:
    fingerprint, _ = books.orders[order.buyer, order.request_id]
    return msgspec.structs.asdict(order) | {"fingerprint": fingerprint, "lines": None}


def _line_rows(order: PlacedOrder, books: Books) -> Iterable[dict[str, Any]]:
    for line in order.lines:
        product_id = books.rows[line.product].product_id
        yield {"order_id": order.id, "product_id": product_id, "quantity": line.quantity, "unit_price": line.unit_price}


def _tally_rows(books: Books) -> Iterable[dict[str, Any]]:
    rows = [books.rows[line.product] for order in books.placed for line in order.lines]
    limits = {row.product_id: row.limit_per_buyer for row in rows}
    keys = {(books.rows[line.product].product_id, order.buyer) for order in books.placed for line in order.lines}
    for key in sorted(keys):
        product_id, buyer = key
        yield {"product_id": product_id, "buyer": buyer, "units": books.tallies[key], "max": limits[product_id]}


ORDERS_INSERT = """
    INSERT INTO orders_order (id, buyer, request_id, fingerprint, status, total, currency, created_at, expires_at,
                              confirmed_at)
    SELECT id, buyer, request_id, fingerprint, status, total, currency, created_at, expires_at, confirmed_at
    FROM json_to_recordset(%s::json) AS placed (
        id uuid, buyer text, request_id text, fingerprint text, status text, total numeric, currency text,
        created_at timestamptz, expires_at timestamptz, confirmed_at timestamptz)
"""
LINES_INSERT = """
    INSERT INTO orders_orderline (order_id, product_id, quantity, unit_price)
    SELECT order_id, product_id, quantity, unit_price
    FROM json_to_recordset(%s::json) AS line (order_id uuid, product_id bigint, quantity int, unit_price numeric)
"""
# Absolute numbers are safe: whoever changes a tally of a product holds the product's stock row.
TALLIES_UPSERT = """
    INSERT INTO orders_buyertally (product_id, buyer, units, "limit")
    SELECT product_id, buyer, units, max
    FROM json_to_recordset(%s::json) AS tally (product_id bigint, buyer text, units int, max int)
    ON CONFLICT (product_id, buyer) DO UPDATE SET units = EXCLUDED.units, "limit" = EXCLUDED."limit"
"""
