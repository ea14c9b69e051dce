"""What staff see of a product at a glance: its state and its units, read in one statement."""

from datetime import datetime
from typing import Protocol

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, Sum, TextChoices, Value, When
from django.db.models.functions import Coalesce, Now

from inventory.models import Product, StockMovement

Kind = StockMovement.Kind


class State(TextChoices):
    """What a buyer who comes now would find."""

    NOT_OPEN = "not_open", "not open yet"
    ON_SALE = "on_sale", "on sale"
    SOLD_OUT = "sold_out", "sold out"
    CLOSED = "closed", "closed"
    WITHDRAWN = "withdrawn", "withdrawn"


class Overview(Protocol):
    """A product as `overview` gives it."""

    pk: int
    sku: str
    state: str
    available: int
    held: int
    sold: int
    seeded: int
    adjusted: int
    orders_total: int
    version: int
    entries: int
    opens_at: datetime | None
    closes_at: datetime | None


def overview(products: QuerySet[Product]) -> QuerySet[Product]:
    """Add state and units to each product; one statement, so the numbers are of one moment.

    `sold` is what came in and is neither available nor held: the books' first promise, solved for the confirmed orders.
    """
    return products.annotate(
        state=_state(),
        available=F("stock__available"),
        held=F("stock__held"),
        orders_total=F("stock__orders_total"),
        version=F("stock__version"),
        entries=F("stock__ledger_seq"),
        seeded=_came_in(Kind.SEEDED),
        adjusted=_came_in(Kind.ADJUSTED),
    ).annotate(sold=F("seeded") + F("adjusted") - F("available") - F("held"))


def _state() -> Case:
    return Case(
        When(active=False, then=Value(State.WITHDRAWN)),
        When(opens_at__gt=Now(), then=Value(State.NOT_OPEN)),
        When(closes_at__lte=Now(), then=Value(State.CLOSED)),
        When(stock__available=0, then=Value(State.SOLD_OUT)),
        default=Value(State.ON_SALE),
    )


def _came_in(kind: Kind) -> Coalesce:
    """Sum up what staff moved. Their entries alone have a request_id: its index finds the few among millions."""
    entries = StockMovement.objects.filter(Q(kind=kind), product=OuterRef("pk"), request_id__isnull=False)
    sums = entries.order_by().values("product").annotate(units=Sum("delta")).values("units")
    return Coalesce(Subquery(sums), 0)
