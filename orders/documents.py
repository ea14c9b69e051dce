"""The API's documents of orders: one form for a new order, a replay, a list and a detail."""

from operator import attrgetter
from typing import Literal

import msgspec

from orders.intake import OrderBody
from orders.models import Order
from orders.outcomes import PlacedLine, PlacedOrder


class OrderPage(msgspec.Struct, frozen=True):
    """A page of orders, the newest first; `next` is the address of the page after it."""

    next: str | None
    results: list[PlacedOrder]


class RequestDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a request: `placed`, and the address of its order, or `unknown`."""

    status: Literal["placed", "unknown"]
    order: str | None = None


TYPES = [PlacedOrder, OrderPage, RequestDocument, OrderBody]


def order_document(order: Order) -> PlacedOrder:
    """Show a stored order; its lines and their products have been loaded."""
    lines = (PlacedLine(line.product.sku, line.quantity, line.unit_price) for line in order.lines.all())
    return PlacedOrder(
        id=order.id,
        request_id=order.request_id,
        buyer=order.buyer,
        status=order.status,
        # The order of placing, by code point; that of PostgreSQL depends on the database's collation.
        lines=tuple(sorted(lines, key=attrgetter("product"))),
        total=order.total,
        currency=order.currency,
        created_at=order.created_at,
        expires_at=order.expires_at,
        confirmed_at=order.confirmed_at,
        cancelled_at=order.cancelled_at,
        expired_at=order.expired_at,
    )
