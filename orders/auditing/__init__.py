"""The audit: the books prove the promises, or name what breaks them."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection, transaction

from inventory.exceptions import ProductNotFound
from inventory.models import Product
from orders.auditing import chain, sums

__all__ = ["ProductAudit", "audit"]


@dataclass(frozen=True, slots=True)
class ProductAudit:
    """What the audit found of a product: its units, and a sentence for each breach."""

    sku: str
    seeded: int
    adjusted: int
    available: int
    #: Units of reserved orders.
    held: int
    #: Units of confirmed orders.
    sold: int
    breaches: list[str]


def audit(skus: Collection[str] | None = None) -> list[ProductAudit]:
    """Check these products, or all, in one snapshot of the books; raise ProductNotFound.

    Sums, tallies, orders and ledger are compared with one another, and the ledger's hash chain is computed anew. Memory
    stays flat however long the ledger is. Nothing is locked: a sale goes on meanwhile.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        products = list(Product.objects.with_stock())
        if skus is not None:
            products = [product for product in products if product.sku in set(skus)]
            if len(products) < len(set(skus)):
                raise ProductNotFound
        return [_audit(product) for product in products]


def _audit(product: Product) -> ProductAudit:
    found = sums.read(product)
    breaches = [*sums.breaches(product, found), *chain.breaches(product)]
    return ProductAudit(
        sku=product.sku,
        seeded=found.seeded,
        adjusted=found.adjusted,
        available=product.stock.available,
        held=found.reserved,
        sold=found.confirmed,
        breaches=breaches,
    )
