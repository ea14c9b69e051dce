"""Intake: from the bytes of a request to a command, parsed once by a compiled validator."""

import re
from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from inventory import parsing, request_ids
from inventory.documents import RequestId, Sku
from inventory.exceptions import Invalid
from inventory.models import IDENTIFIER_LENGTH_MAX
from orders.command import PlaceOrder, merge_lines

LINES_MAX = 20
UNITS_PER_PRODUCT_MAX = 1000
MONEY = re.compile(r"\d{1,16}(\.\d{1,2})?\Z")


class LineBody(msgspec.Struct, forbid_unknown_fields=True):
    """A line as it is sent."""

    product: Sku
    quantity: Annotated[int, Meta(ge=1, le=UNITS_PER_PRODUCT_MAX)]


class OrderBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /orders/. The request_id is checked by hand: what is wrong with it has codes of its own."""

    lines: Annotated[list[LineBody], Meta(min_length=1, max_length=LINES_MAX)]
    request_id: RequestId = UNSET
    buyer: Annotated[str, Meta(min_length=1, max_length=IDENTIFIER_LENGTH_MAX)] | UnsetType = UNSET
    expected_total: str | UnsetType | None = UNSET


_decoder = msgspec.json.Decoder(OrderBody)


def parse(body: bytes) -> OrderBody:
    """Parse a body strictly; raise Invalid with a JSON pointer."""
    return parsing.parse(_decoder, body)


def command_of(body: OrderBody, *, buyer: str, in_header: str | None) -> PlaceOrder:
    """Make the command of a parsed body; raise Invalid, or what is wrong with the request_id."""
    lines = merge_lines((line.product, line.quantity) for line in body.lines)
    for line in lines:
        if line.quantity > UNITS_PER_PRODUCT_MAX:
            raise Invalid.at("/lines", f"must not add up to more than {UNITS_PER_PRODUCT_MAX} units of {line.sku}")
    return PlaceOrder(
        buyer=buyer,
        request_id=request_ids.read(body.request_id, in_header=in_header),
        lines=lines,
        expected_total=_money(body.expected_total),
    )


def _money(value: str | UnsetType | None) -> Decimal | None:
    if value is UNSET or value is None:
        return None
    if not MONEY.match(value):
        raise Invalid.at("/expected_total", "must be a decimal string such as 19.90")
    return Decimal(value)
