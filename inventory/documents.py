"""The API's documents and bodies of products and stock, as msgspec encodes, decodes and describes them."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from inventory.ledger import Movement
from inventory.models import Admission, Product
from inventory.services import UNITS_MAX

Sku = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._-]+$")]
Money = Annotated[str, Meta(pattern=r"^[0-9]{1,10}(\.[0-9]{1,2})?$", description="A decimal string.")]
Currency = Annotated[str, Meta(pattern=r"^[A-Z]{3}$")]
Positive = Annotated[int, Meta(ge=1, le=2_147_483_647)]
# Any, for it is checked by hand: what is wrong with it has codes of its own.
RequestId = Annotated[
    Any, Meta(extra_json_schema={"type": "string", "pattern": "^[A-Za-z0-9._~:-]{1,128}$", "examples": ["seed-1"]})
]
AdmissionName = Literal["direct", "lock"]
assert get_args(AdmissionName) == tuple(Admission.values), "the document names every admission"


class ProductDocument(msgspec.Struct, frozen=True):
    """A product, with its stock as the books have it at this call."""

    sku: str
    name: str
    description: str
    price: Decimal
    currency: str
    limit: int | None
    hold_seconds: int | None
    opens_at: datetime | None
    closes_at: datetime | None
    admission: str
    active: bool
    available: int
    held: int


class ProductPage(msgspec.Struct, frozen=True):
    """A page of products; `next` is the address of the page after it."""

    next: str | None
    results: list[ProductDocument]


class ProductBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The body of POST /products/."""

    sku: Sku
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    price: Money
    description: Annotated[str, Meta(max_length=10_000)] = ""
    currency: Currency = "EUR"
    limit: Positive | None = 1
    hold_seconds: Positive | None = 900
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    admission: AdmissionName = "direct"
    active: bool = True


class ProductChanges(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The body of PATCH /products/{sku}/: what is left out stays. A sku never changes, stock only by movements."""

    name: Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=10_000)] | UnsetType = UNSET
    price: Money | UnsetType = UNSET
    currency: Currency | UnsetType = UNSET
    limit: Positive | UnsetType | None = UNSET
    hold_seconds: Positive | UnsetType | None = UNSET
    opens_at: datetime | UnsetType | None = UNSET
    closes_at: datetime | UnsetType | None = UNSET
    admission: AdmissionName | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class MovementDocument(msgspec.Struct, frozen=True):
    """An entry of a product's ledger; the hashes are hexadecimal."""

    product: str
    seq: int
    kind: str
    delta: int
    balance_after: int
    reason: str
    actor: str
    request_id: str | None
    order: str | None
    created_at: datetime
    previous_hash: str
    hash: str


class MovementPage(msgspec.Struct, frozen=True):
    """A page of the ledger, the newest entry first; `next` is the address of the page after it."""

    next: str | None
    results: list[MovementDocument]


class MovementBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The body of POST /products/{sku}/movements/."""

    delta: Annotated[int, Meta(ge=-UNITS_MAX, le=UNITS_MAX)]
    reason: Annotated[str, Meta(min_length=1, max_length=500)]
    request_id: RequestId = UNSET


class StockDocument(msgspec.Struct, frozen=True):
    """A product's stock; the version is the ETag. `movement` is what the call moved, null where nothing had to."""

    product: str
    available: int
    version: int
    movement: MovementDocument | None = None


class StockBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The body of PUT /products/{sku}/stock/."""

    available: Annotated[int, Meta(ge=0, le=UNITS_MAX)]
    request_id: RequestId = UNSET


TYPES = [
    ProductDocument,
    ProductPage,
    ProductBody,
    ProductChanges,
    MovementDocument,
    MovementPage,
    MovementBody,
    StockDocument,
    StockBody,
]

#: Names of the API that are not the model's.
FIELD_NAMES = {"limit": "limit_per_buyer"}


def fields_of(body: ProductBody | ProductChanges) -> dict[str, Any]:  # values of the model's fields
    """Give the model's fields that a body sets."""
    given = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    if "price" in given:
        given["price"] = Decimal(given["price"])
    return {FIELD_NAMES.get(name, name): value for name, value in given.items()}


def product_document(product: Product) -> ProductDocument:
    """Show a product; its stock row has been joined."""
    return ProductDocument(
        sku=product.sku,
        name=product.name,
        description=product.description,
        price=product.price,
        currency=product.currency,
        limit=product.limit_per_buyer,
        hold_seconds=product.hold_seconds,
        opens_at=product.opens_at,
        closes_at=product.closes_at,
        admission=product.admission,
        active=product.active,
        available=product.stock.available,
        held=product.stock.held,
    )


def movement_document(movement: Movement, *, sku: str) -> MovementDocument:
    """Show an entry of the ledger."""
    return MovementDocument(
        product=sku,
        seq=movement.seq,
        kind=movement.kind,
        delta=movement.delta,
        balance_after=movement.balance_after,
        reason=movement.note,
        actor=movement.actor,
        request_id=movement.request_id,
        order=None if movement.order_id is None else str(movement.order_id),
        created_at=movement.created_at,
        previous_hash=movement.previous_hash.hex(),
        hash=movement.hash.hex(),
    )
