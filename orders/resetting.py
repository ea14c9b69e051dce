"""Begin a sale anew: every order undone and the stock as it was seeded, all by movements."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Sum

from inventory import ledger
from inventory.exceptions import ProductNotFound
from inventory.models import Product, Stock, StockMovement
from orders import lifecycle
from orders.models import BuyerTally, Order, OrderLine

ACTOR = "command"
NOTE = "reset"
#: Orders placed while a reset runs are cancelled by its next round; a sale that does not stop is not reset.
ROUNDS_MAX = 20


class SaleGoesOn(Exception):  # noqa: N818 - it names what is the case.
    """Orders come in faster than they are cancelled: close the sale first."""


@dataclass(frozen=True, slots=True)
class Reset:
    """What a reset did to a product."""

    sku: str
    cancelled: int
    available: int


def reset(skus: Collection[str]) -> list[Reset]:
    """Cancel every live order that has a line of these products, then bring `available` back to what was seeded.

    An order's lines of other products return as well. Repeating it changes nothing. Raise ProductNotFound, or
    SaleGoesOn.
    """
    known = set(Product.objects.filter(sku__in=skus).values_list("sku", flat=True))
    if known != set(skus):
        raise ProductNotFound
    return [_reset(sku) for sku in sorted(known)]


def delete_everything() -> None:
    """Empty products, orders and ledger: for a development site. Nobody can get it back."""
    tables = [model._meta.db_table for model in (Product, Stock, StockMovement, Order, OrderLine, BuyerTally)]
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(tables)} RESTART IDENTITY")


def _reset(sku: str) -> Reset:
    cancelled = _cancel_all(sku)
    return Reset(sku, cancelled, _bring_back(sku))


def _cancel_all(sku: str) -> int:
    cancelled = 0
    for _ in range(ROUNDS_MAX):
        ids = list(Order.objects.of_product(sku).live().newest_first().values_list("id", flat=True))
        if not ids:
            return cancelled
        for start in range(0, len(ids), lifecycle.CANCEL_BATCH_MAX):
            batch = ids[start : start + lifecycle.CANCEL_BATCH_MAX]
            cancelled += lifecycle.cancel(batch, actor=ACTOR, note=NOTE)
    raise SaleGoesOn


def _bring_back(sku: str) -> int:
    """Move the difference between what is available and what was seeded; read and moved under one lock."""
    with transaction.atomic(durable=True):
        locked = ledger.lock([sku])
        row = locked.rows[sku]
        entries = StockMovement.objects.filter(product_id=row.product_id, kind=StockMovement.Kind.SEEDED)
        # Seeding away what was adjusted in leaves a sum below zero, and there is no less than nothing.
        seeded: int = max(0, entries.aggregate(units=Sum("delta"))["units"] or 0)
        delta = seeded - row.available
        if delta:
            movement = row.move(
                kind=StockMovement.Kind.ADJUSTED,
                delta=delta,
                actor=ACTOR,
                now=locked.now,
                note=NOTE,
                request_id=str(uuid.uuid4()),
            )
            ledger.write([movement], [row])
    return seeded
