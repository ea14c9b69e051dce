"""Stock, orders, tallies and ledger against one another: the same units, counted four ways."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from inventory.models import Product

#: Rows named for one kind of breach of one product.
NAMED_MAX = 5


@dataclass(frozen=True, slots=True)
class Sums:
    """Units and orders of one product, summed from movements and from order lines."""

    seeded: int
    adjusted: int
    balance: int
    reserved: int
    confirmed: int
    orders: int


def read(product: Product) -> Sums:
    """Sum up a product's movements and order lines."""
    [movements], [lines] = _rows(MOVEMENTS_SQL, product), _rows(LINES_SQL, product)
    return Sums(*movements, *lines)


def breaches(product: Product, found: Sums) -> Iterator[str]:
    """Name where the sums disagree, and the rows that do not fit."""
    stock, sku = product.stock, product.sku
    if stock.available < 0:
        yield f"{sku}: {stock.available} units are available: oversold"
    if stock.available != found.balance:
        yield f"{sku}: {stock.available} units are available, the movements sum up to {found.balance}"
    came, went = found.seeded + found.adjusted, found.reserved + found.confirmed
    if came != stock.available + went:
        yield f"{sku}: {came} units came in, {stock.available} are available and {went} in live orders"
    if stock.held != found.reserved:
        yield f"{sku}: the stock row says {stock.held} held, reserved orders have {found.reserved}"
    if stock.orders_total != found.orders:
        yield f"{sku}: the stock row says {stock.orders_total} orders, there are {found.orders}"
    for statement, sentence in ROW_CHECKS:
        for row in _rows(statement, product):
            yield f"{sku}: {sentence.format(*row)}"


def _rows(statement: str, product: Product) -> Sequence[tuple[Any, ...]]:  # the statement's columns
    with connection.cursor() as cursor:
        cursor.execute(statement, {"product": product.pk, "max": NAMED_MAX})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


MOVEMENTS_SQL = """
    SELECT coalesce(sum(delta) FILTER (WHERE kind = 'seeded'), 0),
           coalesce(sum(delta) FILTER (WHERE kind = 'adjusted'), 0), coalesce(sum(delta), 0)
    FROM inventory_stockmovement WHERE product_id = %(product)s
"""
LINES_SQL = """
    SELECT coalesce(sum(line.quantity) FILTER (WHERE placed.status = 'reserved'), 0),
           coalesce(sum(line.quantity) FILTER (WHERE placed.status = 'confirmed'), 0), count(*)
    FROM orders_orderline AS line JOIN orders_order AS placed ON placed.id = line.order_id
    WHERE line.product_id = %(product)s
"""
TALLIES_SQL = """
    SELECT buyer, coalesce(tally.units, 0), coalesce(live.units, 0)
    FROM (SELECT buyer, units FROM orders_buyertally WHERE product_id = %(product)s) AS tally
    FULL JOIN (
        SELECT placed.buyer, sum(line.quantity) AS units
        FROM orders_orderline AS line JOIN orders_order AS placed ON placed.id = line.order_id
        WHERE line.product_id = %(product)s AND placed.status IN ('reserved', 'confirmed')
        GROUP BY placed.buyer) AS live USING (buyer)
    WHERE coalesce(tally.units, 0) <> coalesce(live.units, 0)
    ORDER BY buyer LIMIT %(max)s
"""
LIMITS_SQL = """
    SELECT buyer, units, "limit" FROM orders_buyertally
    WHERE product_id = %(product)s AND units > "limit" ORDER BY buyer LIMIT %(max)s
"""
PLACED_SQL = """
    SELECT coalesce(line.order_id, movement.order_id), coalesce(line.quantity, 0), coalesce(-movement.delta, 0)
    FROM (SELECT order_id, quantity FROM orders_orderline WHERE product_id = %(product)s) AS line
    FULL JOIN (
        SELECT order_id, sum(delta) AS delta FROM inventory_stockmovement
        WHERE product_id = %(product)s AND kind = 'placed' GROUP BY order_id) AS movement USING (order_id)
    WHERE line.quantity IS DISTINCT FROM -movement.delta
    ORDER BY 1 LIMIT %(max)s
"""
RETURNED_SQL = """
    SELECT order_id, status, due, returned
    FROM (
        SELECT line.order_id, placed.status, coalesce(movement.delta, 0) AS returned,
               CASE WHEN placed.status IN ('reserved', 'confirmed') THEN 0 ELSE line.quantity END AS due
        FROM orders_orderline AS line
        JOIN orders_order AS placed ON placed.id = line.order_id
        LEFT JOIN (
            SELECT order_id, sum(delta) AS delta FROM inventory_stockmovement
            WHERE product_id = %(product)s AND kind = 'returned' GROUP BY order_id) AS movement
            ON movement.order_id = line.order_id
        WHERE line.product_id = %(product)s) AS line
    WHERE due <> returned
    ORDER BY 1 LIMIT %(max)s
"""
TOTALS_SQL = """
    SELECT placed.id, placed.total, sum(line.quantity * line.unit_price)
    FROM orders_order AS placed JOIN orders_orderline AS line ON line.order_id = placed.id
    WHERE placed.id IN (SELECT order_id FROM orders_orderline WHERE product_id = %(product)s)
    GROUP BY placed.id HAVING placed.total <> sum(line.quantity * line.unit_price)
    ORDER BY 1 LIMIT %(max)s
"""
REQUESTS_SQL = """
    SELECT placed.buyer, placed.request_id, count(DISTINCT placed.id)
    FROM orders_order AS placed JOIN orders_orderline AS line ON line.order_id = placed.id
    WHERE line.product_id = %(product)s
    GROUP BY placed.buyer, placed.request_id HAVING count(DISTINCT placed.id) > 1
    ORDER BY 1, 2 LIMIT %(max)s
"""
ROW_CHECKS = (
    (TALLIES_SQL, "the tally of buyer {0} says {1} units, live orders have {2}"),
    (LIMITS_SQL, "buyer {0} has {1} units, the limit was {2}"),
    (PLACED_SQL, "order {0} has {1} units, the ledger placed {2}"),
    (RETURNED_SQL, "order {0} is {1}, so {2} units came back, the ledger returned {3}"),
    (TOTALS_SQL, "order {0} has a total of {1}, its lines sum up to {2}"),
    (REQUESTS_SQL, "buyer {0} has {2} orders for the request {1}"),
)
