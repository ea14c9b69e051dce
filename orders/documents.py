"""The API's documents of orders: one form for a new order, a replay, a list and a detail."""

from typing import Any, Literal

import msgspec

from orders.intake import OrderBody
from orders.models import Order
from orders.outcomes import PlacedLine, PlacedOrder


class OrderPage(msgspec.Struct, frozen=True):
    """A page of orders, the newest first; `next` is the address of the page after it."""

    next: str | None
    results: list[PlacedOrder]


class RequestDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a request; `order` is the address of its order, `problem` why it was refused."""

    status: Literal["pending", "placed", "refused", "unknown"]
    order: str | None = None
    problem: dict[str, Any] | None = None  # a problem document


TYPES = [PlacedOrder, OrderPage, RequestDocument, OrderBody]


def order_document(order: Order) -> PlacedOrder:
    """Show a stored order; its lines and their products have been loaded."""
    return PlacedOrder(
        id=order.id,
        request_id=order.request_id,
        buyer=order.buyer,
        status=order.status,
        lines=tuple(PlacedLine(line.product.sku, line.quantity, line.unit_price) for line in order.lines.all()),
        total=order.total,
        currency=order.currency,
        created_at=order.created_at,
        expires_at=order.expires_at,
        confirmed_at=order.confirmed_at,
        cancelled_at=order.cancelled_at,
        expired_at=order.expired_at,
    )
