"""What may become of an order after it was placed: every transition, each guarded by the state that it leaves.

The lock order is that of placing: stock rows first. Whoever moves an order of a product holds the product's stock row.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from django.db import connection, transaction
from django.db.models import QuerySet

from inventory import ledger
from inventory.models import StockMovement
from orders.models import Order, OrderLine

#: Orders in one transaction: enough to be quick, few enough that a sale waits some milliseconds only.
CANCEL_BATCH_MAX = 200


def cancel(order_ids: Sequence[UUID], *, actor: str, note: str = "") -> int:
    """Cancel those of these orders that are live, return their units and give back the buyers' limits.

    Tell how many were cancelled; one that was not live is left as it is, so a repeat changes nothing. At most
    CANCEL_BATCH_MAX at a time: one transaction.
    """
    assert len(order_ids) <= CANCEL_BATCH_MAX, "a batch has a limit"
    with transaction.atomic(durable=True):
        lines = list(OrderLine.objects.filter(order_id__in=order_ids).with_product())
        locked = ledger.lock({line.product.sku for line in lines})
        orders = {order.id: order for order in _live(order_ids)}
        changed = _leave(orders.values(), to=Order.Status.CANCELLED, now=locked.now)
        assert changed == len(orders), "an order moved without its products' stock rows"
        gone = [line for line in lines if line.order_id in orders]
        _give_back(gone, orders, locked, actor=actor, note=note)
    return len(orders)


def _live(order_ids: Sequence[UUID]) -> QuerySet[Order]:
    return Order.objects.filter(id__in=order_ids).live().order_by("id")


def _leave(orders: Iterable[Order], *, to: Order.Status, now: datetime) -> int:
    """Take live orders to their end; the time of it has the state's name."""
    ids = [order.id for order in orders]
    return Order.objects.filter(id__in=ids).live().update(status=to, **{f"{to.value}_at": now})


def _give_back(
    lines: Sequence[OrderLine], orders: dict[UUID, Order], locked: ledger.Locked, *, actor: str, note: str
) -> None:
    """Return the units of these lines to the books."""
    if not lines:
        return
    movements = []
    returned: dict[tuple[int, str], int] = defaultdict(int)
    for line in sorted(lines, key=lambda line: (line.product_id, line.order_id)):
        row, order = locked.rows[line.product.sku], orders[line.order_id]
        movements.append(
            row.move(
                kind=StockMovement.Kind.RETURNED,
                delta=line.quantity,
                actor=actor,
                now=locked.now,
                note=note,
                order_id=order.id,
            )
        )
        row.held -= line.quantity if order.status == Order.Status.RESERVED else 0
        returned[row.product_id, order.buyer] += line.quantity
    _lower_tallies(returned)
    ledger.write(movements, [locked.rows[sku] for sku in {line.product.sku for line in lines}])


def _lower_tallies(returned: dict[tuple[int, str], int]) -> None:
    rows = [{"product_id": key[0], "buyer": key[1], "units": units} for key, units in sorted(returned.items())]
    with connection.cursor() as cursor:
        cursor.execute(LOWER_TALLIES, [msgspec.json.encode(rows).decode()])


LOWER_TALLIES = """
    UPDATE orders_buyertally AS tally SET units = tally.units - returned.units
    FROM json_to_recordset(%s::json) AS returned (product_id bigint, buyer text, units int)
    WHERE tally.product_id = returned.product_id AND tally.buyer = returned.buyer
"""
