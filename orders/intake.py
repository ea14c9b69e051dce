"""Intake: from the bytes of a request to a command, parsed once by a compiled validator."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from inventory import request_ids
from inventory.exceptions import Invalid
from inventory.models import IDENTIFIER_LENGTH_MAX
from orders.command import PlaceOrder, merge_lines

LINES_MAX = 20
UNITS_PER_PRODUCT_MAX = 1000
#: Deeper than any body that is valid; msgspec itself stops at the interpreter's recursion limit.
MONEY = re.compile(r"\d{1,16}(\.\d{1,2})?\Z")


class LineBody(msgspec.Struct, forbid_unknown_fields=True):
    """A line as it is sent."""

    product: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._-]+\Z")]
    quantity: Annotated[int, Meta(ge=1, le=UNITS_PER_PRODUCT_MAX)]


class OrderBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /orders/. The request_id is checked by hand: what is wrong with it has codes of its own."""

    lines: Annotated[list[LineBody], Meta(min_length=1, max_length=LINES_MAX)]
    request_id: object = UNSET
    buyer: Annotated[str, Meta(min_length=1, max_length=IDENTIFIER_LENGTH_MAX)] | UnsetType = UNSET
    expected_total: str | UnsetType | None = UNSET


_decoder = msgspec.json.Decoder(OrderBody)


def parse(body: bytes) -> OrderBody:
    """Parse a body strictly; raise Invalid with a JSON pointer."""
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Invalid.at("", "is not JSON") from error


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


# msgspec says where by a path such as `$.lines[0].quantity`.
_MESSAGE = re.compile(r"(?P<detail>.*?)(?: - at `(?:key in )?\$(?P<path>[^`]*)`)?\Z", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def _invalid(message: str) -> Invalid:
    match = _MESSAGE.match(message)
    assert match is not None, "the pattern matches any text"
    return Invalid.at(_pointer(_STEP.findall(match["path"] or "")), match["detail"])


def _pointer(steps: Iterable[tuple[str, str]]) -> str:
    return "".join(f"/{name or index}" for name, index in steps)
