"""A product on sale, requests for it, and the proof that its books are right."""

import uuid
from collections.abc import Mapping
from typing import Any

from inventory import services
from orders.auditing import audit
from orders.command import PlaceOrder, merge_lines
from orders.exceptions import OutcomeUnknown
from orders.outcomes import Broken, Outcome, Placed, Refused


def open_sale(sku: str = "tee", *, total: int, **product: Any) -> str:  # the fields of a product
    """Make a product with `total` units and no limit per buyer, and give its sku."""
    services.create_product(sku=sku, **{"name": sku, "price": "19.90", "limit_per_buyer": None} | product)
    if total:
        services.seed(sku=sku, available=total, request_id=f"seed-{sku}", actor="staff")
    return sku


def wants(lines: str | Mapping[str, int], *, buyer: str = "ann", request_id: str | None = None) -> PlaceOrder:
    """Ask for one unit of a sku, or for units by sku; without a `request_id` it is a request of its own."""
    units = {lines: 1} if isinstance(lines, str) else lines
    return PlaceOrder(buyer, request_id or str(uuid.uuid4()), merge_lines(units.items()))


def told(outcome: Outcome) -> str:
    """Say in one word what a buyer is told: placed, replayed, broken, unknown, or the code of the refusal."""
    match outcome:
        case Placed(replayed=replayed):
            return "replayed" if replayed else "placed"
        case Refused(refusal=OutcomeUnknown()):
            return "unknown"
        case Refused(refusal=refusal):
            return refusal.code
        case Broken():
            return "broken"


def prove(*skus: str) -> None:
    """Check the books of these products, or of all: every unit is there once."""
    for product in audit(skus or None):
        assert product.breaches == []
        assert product.available + product.held + product.sold == product.seeded + product.adjusted
