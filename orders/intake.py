"""Intake: from the bytes of a request to a command, parsed once by a compiled validator."""

from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from inventory import parsing, request_ids
from inventory.documents import RequestId, Sku, matching
from inventory.exceptions import Invalid
from inventory.models import IDENTIFIER_LENGTH_MAX
from orders.command import PlaceOrder, merge_lines

LINES_MAX = 20
UNITS_PER_PRODUCT_MAX = 1000

Total = Annotated[
    str,
    matching(
        r"[0-9]{1,16}(\.[0-9]{1,2})?",
        description="A decimal string: refuse the order if the price has changed.",
        examples=["19.90"],
    ),
]


class LineBody(msgspec.Struct, forbid_unknown_fields=True):
    """A line as it is sent; lines of one product are added up."""

    product: Sku
    quantity: Annotated[int, Meta(ge=1, le=UNITS_PER_PRODUCT_MAX, examples=[1])]


class OrderBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /orders/. The request_id is checked by hand: what is wrong with it has codes of its own."""

    lines: Annotated[list[LineBody], Meta(min_length=1, max_length=LINES_MAX)]
    request_id: RequestId = UNSET
    buyer: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=IDENTIFIER_LENGTH_MAX,
                description="Printable characters. Needs the scope `orders:any-buyer`; without it the caller orders.",
            ),
        ]
        | UnsetType
    ) = UNSET
    expected_total: Total | UnsetType | None = UNSET


_decoder = msgspec.json.Decoder(OrderBody)


def parse(body: bytes) -> OrderBody:
    """Parse a body strictly; raise Invalid with a JSON pointer."""
    return parsing.parse(_decoder, body)


def command_of(body: OrderBody, *, buyer: str, in_header: str | None) -> PlaceOrder:
    """Make the command of a parsed body; raise Invalid, then what is wrong with the request_id."""
    lines = merge_lines((line.product, line.quantity) for line in body.lines)
    for line in lines:
        if line.quantity > UNITS_PER_PRODUCT_MAX:
            raise Invalid.at("/lines", f"must not add up to more than {UNITS_PER_PRODUCT_MAX} units of {line.sku}")
    total = body.expected_total
    return PlaceOrder(
        buyer=buyer,
        request_id=request_ids.read(body.request_id, in_header=in_header),
        lines=lines,
        expected_total=None if total is UNSET or total is None else Decimal(total),
    )
