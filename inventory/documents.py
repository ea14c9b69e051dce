"""The API's documents and bodies of products and stock, as msgspec encodes, decodes and describes them."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from inventory.exceptions import Invalid
from inventory.ledger import Movement
from inventory.models import HOLD_SECONDS_DEFAULT, LIMIT_DEFAULT, NOTE_LENGTH_MAX, Admission, Product, StockMovement
from inventory.services import UNITS_MAX

INTEGER_MAX = 2_147_483_647
# Control characters: PostgreSQL has no NUL in a text, and a page has no use for the others.
_CONTROL = r"\x00-\x1f\x7f-\x9f"
ONE_LINE = rf"[^{_CONTROL}]*[^\s{_CONTROL}][^{_CONTROL}]*"
LINES = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*"


def matching(pattern: str, **facts: Any) -> Meta:  # further arguments of Meta
    """Ask that all of a text matches a pattern: Python's `$` would let a newline follow."""
    return Meta(pattern=rf"^{pattern}\Z", **facts)


Sku = Annotated[str, matching("[A-Za-z0-9._-]{1,64}", examples=["tee-red"])]
Name = Annotated[str, matching(ONE_LINE, max_length=200, description="One line.")]
Description = Annotated[str, matching(LINES, max_length=10_000)]
Price = Annotated[str, matching(r"[0-9]{1,10}(\.[0-9]{1,2})?", description="A decimal string.", examples=["19.90"])]
Currency = Annotated[str, matching("[A-Z]{3}", examples=["EUR"])]
Positive = Annotated[int, Meta(ge=1, le=INTEGER_MAX)]
Time = Annotated[datetime, Meta(tz=True)]
# Any, for it is checked by hand: what is wrong with it has codes of its own.
RequestId = Annotated[
    Any,
    Meta(
        description="Needed here or in the header Idempotency-Key; null is as good as nothing.",
        examples=["8e03978e-40d5-43e8-bc93-6894a57f9324"],
        extra_json_schema={"type": ["string", "null"], "pattern": "^[A-Za-z0-9._~:-]{1,128}$"},
    ),
]
AdmissionName = Literal["direct", "lock"]
assert get_args(AdmissionName) == tuple(Admission.values), "the document names every admission"


def one_of(names: list[str]) -> Meta:
    """Describe what a text of an answer can be."""
    return Meta(extra_json_schema={"enum": names})


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
    admission: Annotated[str, one_of(Admission.values)]
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
    name: Name
    price: Price
    description: Description = ""
    currency: Currency = "EUR"
    limit: Positive | None = LIMIT_DEFAULT
    hold_seconds: Positive | None = HOLD_SECONDS_DEFAULT
    opens_at: Time | None = None
    closes_at: Time | None = None
    admission: AdmissionName = "direct"
    active: bool = True


class ProductChanges(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The body of PATCH /products/{sku}/: what is left out stays. A sku never changes, stock only by movements."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    price: Price | UnsetType = UNSET
    currency: Currency | UnsetType = UNSET
    limit: Positive | UnsetType | None = UNSET
    hold_seconds: Positive | UnsetType | None = UNSET
    opens_at: Time | UnsetType | None = UNSET
    closes_at: Time | UnsetType | None = UNSET
    admission: AdmissionName | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class MovementDocument(msgspec.Struct, frozen=True):
    """An entry of a product's ledger; the hashes are hexadecimal."""

    product: str
    seq: int
    kind: Annotated[str, one_of(StockMovement.Kind.values)]
    delta: int
    balance_after: int
    reason: str
    actor: str
    request_id: str | None
    order: UUID | None
    created_at: datetime
    previous_hash: str
    hash: str


class MovementPage(msgspec.Struct, frozen=True):
    """A page of the ledger, the newest entry first; `next` is the address of the page after it."""

    next: str | None
    results: list[MovementDocument]


class MovementBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The body of POST /products/{sku}/movements/."""

    delta: Annotated[int, Meta(ge=-UNITS_MAX, le=UNITS_MAX, extra_json_schema={"not": {"const": 0}})]
    reason: Annotated[str, matching(ONE_LINE, max_length=NOTE_LENGTH_MAX, description="One printable line.")]
    request_id: RequestId = UNSET


class StockDocument(msgspec.Struct, frozen=True):
    """A product's stock; the version is the ETag."""

    product: str
    available: int
    version: int


class SeededDocument(StockDocument, frozen=True):
    """A product's stock after it was seeded; `movement` is what the call moved, null where nothing had to."""

    movement: MovementDocument | None


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
    SeededDocument,
    StockBody,
]

#: Names of the API that are not the model's.
FIELD_NAMES = {"limit": "limit_per_buyer"}


def fields_of(body: ProductBody | ProductChanges) -> dict[str, Any]:  # values of the model's fields
    """Give the model's fields that a body sets; raise Invalid for a time that has no date in UTC."""
    given = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    if "price" in given:
        given["price"] = Decimal(given["price"])
    for name in ("opens_at", "closes_at"):
        if given.get(name) is not None:
            given[name] = _in_utc(given[name], pointer=f"/{name}")
    return {FIELD_NAMES.get(name, name): value for name, value in given.items()}


def _in_utc(time: datetime, *, pointer: str) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise Invalid.at(pointer, "is outside the years 1 to 9999 in UTC") from error


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
        order=movement.order_id,
        created_at=movement.created_at,
        previous_hash=movement.previous_hash.hex(),
        hash=movement.hash.hex(),
    )
