"""What became of a command."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from inventory.exceptions import Refusal


class PlacedLine(msgspec.Struct, frozen=True):
    """A line of an order, as answers show it."""

    product: str
    quantity: int
    unit_price: Decimal


class PlacedOrder(msgspec.Struct, frozen=True):
    """An order as answers show it: its members and their order are those of the API's document."""

    id: UUID
    request_id: str
    buyer: str
    status: str
    lines: tuple[PlacedLine, ...]
    total: Decimal
    currency: str
    created_at: datetime
    expires_at: datetime | None
    confirmed_at: datetime | None
    cancelled_at: datetime | None
    expired_at: datetime | None


@dataclass(frozen=True, slots=True)
class Placed:
    """The order exists, committed; `replayed` when an earlier request had made it."""

    order: PlacedOrder
    replayed: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written. `refusal` says why; of Busy nothing was done, of OutcomeUnknown nobody knows."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Broken:
    """This command alone broke its transaction with an error that nobody foresaw; nothing was written."""

    error: Exception


Outcome = Placed | Refused | Broken
