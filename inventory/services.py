"""What staff do with products and their stock; the API, the admin and the commands all come through here."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from inventory import ledger
from inventory.exceptions import (
    Invalid,
    ProductChanged,
    ProductNotFound,
    RequestIdReused,
    SkuTaken,
    StockVersionRequired,
    StockVersionStale,
)
from inventory.ledger import Movement, StockRow
from inventory.models import NOTE_LENGTH_MAX, Product, Stock, StockMovement

Kind = StockMovement.Kind
#: Far above any sale, and far enough below PostgreSQL's integer that no sum of two can pass it.
UNITS_MAX = 1_000_000_000
#: What a caller says who seeds whatever the version is; `If-Match: *`.
ANY: Literal["*"] = "*"
#: Stock versions that a caller has seen.
Versions = frozenset[int] | Literal["*"]
SKU_CONSTRAINT = "inventory_product_sku_key"


def create_product(*, sku: str, **fields: Any) -> Product:  # fields are the model's own, checked by it
    """Create a product and its empty stock row; raise SkuTaken or Invalid."""
    product = Product(sku=sku, **fields)
    try:
        with transaction.atomic(durable=True):
            _check(product)
            product.save(force_insert=True)
            Stock.objects.create(product=product)
    except IntegrityError as error:
        if getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) != SKU_CONSTRAINT:
            raise
        raise SkuTaken from error
    return product


def update_product(
    *,
    sku: str,
    is_current: Callable[[Product], bool] | None = None,
    **changes: Any,  # the model's own fields, checked by it
) -> Product:
    """Change what a product says, never its sku and never its stock.

    Fields that are not named keep what others have written to them meanwhile. `is_current` is asked under the product's
    lock whether it is still what the caller has seen. Raise ProductNotFound, ProductChanged or Invalid.
    """
    assert "sku" not in changes, "a sku never changes: orders and callers know the product by it"
    with transaction.atomic(durable=True):
        product = Product.objects.select_for_update(no_key=True).filter(sku=sku).order_by("pk").first()
        if product is None:
            raise ProductNotFound
        if is_current is not None and not is_current(product):
            raise ProductChanged
        for name, value in changes.items():
            setattr(product, name, value)
        _check(product)
        if changes:
            product.save(update_fields=list(changes))
    return product


def _check(product: Product) -> None:
    try:
        product.full_clean(validate_unique=False)
    except ValidationError as error:
        raise Invalid(_pointers(error)) from error


def _pointers(error: ValidationError) -> list[tuple[str, str]]:
    return [
        ("" if name == "__all__" else f"/{name}", sentence)
        for name, sentences in error.message_dict.items()
        for sentence in sentences
    ]


@dataclass(frozen=True, slots=True)
class StockChange:
    """What a call did: the ledger's entry (None where nothing had to move), and the stock's numbers after it."""

    movement: Movement | None
    replayed: bool
    available: int
    version: int


def seed(
    *, sku: str, available: int, request_id: str, actor: str, if_versions: Versions | None = None, note: str = ""
) -> StockChange:
    """Bring `available` to this number of units by a movement of the difference.

    A product that was seeded before needs `if_versions`, the stock version that the caller has seen, or ANY. A repeat
    of the same request gives the same entry and changes nothing. Raise ProductNotFound, Invalid, RequestIdReused,
    StockVersionRequired or StockVersionStale.
    """
    if not 0 <= available <= UNITS_MAX:
        raise Invalid.at("/available", f"must be 0 to {UNITS_MAX}")
    _check_note("/note", note)
    with transaction.atomic(durable=True):
        locked, row = _locked(sku)
        before = ledger.entry_of(row.product_id, request_id)
        if before is not None:
            return _replay(row, before, same=before.kind == Kind.SEEDED and before.balance_after == available)
        _compare_version(row, if_versions)
        delta = available - row.available
        if delta == 0:
            return StockChange(None, replayed=False, available=row.available, version=row.version)
        return _move(locked, row, kind=Kind.SEEDED, delta=delta, actor=actor, note=note, request_id=request_id)


def adjust(*, sku: str, delta: int, reason: str, request_id: str, actor: str) -> StockChange:
    """Add or take away units with a reason.

    A repeat of the same request gives the same entry and changes nothing. Raise ProductNotFound, Invalid,
    InsufficientStock or RequestIdReused.
    """
    if delta == 0 or abs(delta) > UNITS_MAX:
        raise Invalid.at("/delta", f"must be -{UNITS_MAX} to {UNITS_MAX}, and not 0")
    if not reason.strip():
        raise Invalid.at("/reason", "must say why")
    _check_note("/reason", reason)
    with transaction.atomic(durable=True):
        locked, row = _locked(sku)
        before = ledger.entry_of(row.product_id, request_id)
        if before is not None:
            same = (before.kind, before.delta, before.note) == (Kind.ADJUSTED, delta, reason)
            return _replay(row, before, same=same)
        if row.available + delta > UNITS_MAX:
            raise Invalid.at("/delta", f"would bring the stock above {UNITS_MAX} units")
        return _move(locked, row, kind=Kind.ADJUSTED, delta=delta, actor=actor, note=reason, request_id=request_id)


def new_request_id() -> str:
    """Make a request_id for a caller that has none of its own and will not repeat its call."""
    return str(uuid.uuid4())


def _locked(sku: str) -> tuple[ledger.Locked, StockRow]:
    locked = ledger.lock([sku])
    if sku not in locked.rows:
        raise ProductNotFound
    return locked, locked.rows[sku]


def _check_note(pointer: str, note: str) -> None:
    if len(note) > NOTE_LENGTH_MAX or not note.isprintable():
        raise Invalid.at(pointer, f"must be at most {NOTE_LENGTH_MAX} printable characters, on one line")


def _compare_version(row: StockRow, if_versions: Versions | None) -> None:
    if if_versions is None:
        if row.was_seeded:
            raise StockVersionRequired
        return
    if if_versions != ANY and row.version not in if_versions:
        raise StockVersionStale


def _replay(row: StockRow, movement: Movement, *, same: bool) -> StockChange:
    if not same:
        raise RequestIdReused
    return StockChange(movement, replayed=True, available=row.available, version=row.version)


def _move(locked: ledger.Locked, row: StockRow, **facts: Any) -> StockChange:  # the arguments of StockRow.move
    movement = row.move(now=locked.now, **facts)
    ledger.write([movement], [row])
    return StockChange(movement, replayed=False, available=row.available, version=row.version + 1)
