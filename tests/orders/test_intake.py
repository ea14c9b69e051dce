"""Intake: what a body must be, and where it says that something is wrong."""

from decimal import Decimal

import pytest

from inventory.exceptions import Invalid, RequestIdMissing
from orders import intake
from orders.command import Line, PlaceOrder

LINES = b'"lines":[{"product":"tee","quantity":1}]'


def wrong(body: bytes) -> list[tuple[str, str]]:
    """Give what is wrong with a body: pointers and details."""
    with pytest.raises(Invalid) as caught:
        intake.command_of(intake.parse(body), buyer="ann", in_header="r-1")
    return list(caught.value.errors)


def command(body: bytes) -> PlaceOrder:
    """Give the command of a body."""
    return intake.command_of(intake.parse(body), buyer="ann", in_header="r-1")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"lines",
        b"{'lines': []}",
        b"{" + LINES + b"} x",
        b"{" + LINES + b",}",
        b"\xef\xbb\xbf{" + LINES + b"}",
        b"{" + LINES + b',"buyer":"\xff"}',
        b"{" + LINES + b',"buyer":"\\ud800"}',
        b"{" + LINES + b',"buyer":"\x00"}',
        b'{"lines":[{"product":"tee","quantity":NaN}]}',
        b'{"lines":[{"product":"tee","quantity":01}]}',
        b"{" + LINES + b',"request_id":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        ("{" + LINES.decode() + "}").encode("utf-16"),
    ],
)
def test_what_is_not_json_is_refused_as_such(body: bytes) -> None:
    """Half an object, a byte order mark, text that is not UTF-8, lone surrogates, NaN, thirty thousand brackets."""
    assert wrong(body) == [("", "is not JSON")]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b"null", ""),
        (b"[]", ""),
        (b"7", ""),
        (b"[" * 60_000, ""),
        (b"{}", "/lines"),
        (b'{"lines":null}', "/lines"),
        (b'{"lines":{}}', "/lines"),
        (b'{"lines":[]}', "/lines"),
        (b'{"lines":[7]}', "/lines/0"),
        (b'{"lines":[{"quantity":1}]}', "/lines/0/product"),
        (b'{"lines":[{"product":"tee"}]}', "/lines/0/quantity"),
        (b'{"lines":[{"product":"tee","quantity":1},{"product":"tee","quantity":"1"}]}', "/lines/1/quantity"),
        (b'{"lines":[{"product":"tee","quantity":1,"colour":"red"}]}', "/lines/0/colour"),
        (b'{"lines":[{"product":"","quantity":1}]}', "/lines/0/product"),
        (b'{"lines":[{"product":"tee\\n","quantity":1}]}', "/lines/0/product"),
        (b'{"lines":[{"product":"te e","quantity":1}]}', "/lines/0/product"),
        (b"{" + LINES + b',"coupon":1}', "/coupon"),
        (b"{" + LINES + b',"":1}', "/"),
        (b"{" + LINES + b',"a/b~c":1}', "/a~1b~0c"),
        (b"{" + LINES + b',"' + b"x" * 5000 + b'":1}', "/" + "x" * 64),
        (b"{" + LINES + b',"buyer":null}', "/buyer"),
        (b"{" + LINES + b',"buyer":""}', "/buyer"),
        (b"{" + LINES + b',"expected_total":19.9}', "/expected_total"),
        (b"{" + LINES + b',"expected_total":"19,90"}', "/expected_total"),
        (b"{" + LINES + b',"expected_total":"-1"}', "/expected_total"),
        (b"{" + LINES + b',"expected_total":"1e3"}', "/expected_total"),
        (b"{" + LINES + b',"expected_total":"NaN"}', "/expected_total"),
        (b"{" + LINES + b',"expected_total":"19.90\\n"}', "/expected_total"),
        ("{" + LINES.decode() + ',"expected_total":"\u0661"}', "/expected_total"),
        (b"{" + LINES + b',"request_id":' + b"9" * 6000 + b"}", "/request_id"),
    ],
)
def test_a_pointer_leads_to_what_is_wrong(body: bytes | str, pointer: str) -> None:
    """Wrong types, missing and unknown members, and values out of bounds are named by their place."""
    text = body.encode() if isinstance(body, str) else body

    assert [found for found, _ in wrong(text)] == [pointer]


@pytest.mark.parametrize(
    "quantity",
    [b"0", b"-1", b"1001", b"1.0", b"1.5", b"1e0", b'"1"', b"true", b"null", b"[]", b"9" * 30, b"9" * 6000],
)
def test_a_quantity_is_a_whole_number_from_1_to_1000(quantity: bytes) -> None:
    """Nothing is rounded, and nothing is taken for a number that is none."""
    body = b'{"lines":[{"product":"tee","quantity":' + quantity + b"}]}"

    assert [pointer for pointer, _ in wrong(body)] == ["/lines/0/quantity"]


def test_an_order_has_20_lines_at_most() -> None:
    """One more is refused."""
    lines = [b'{"product":"tee-%d","quantity":1}' % number for number in range(21)]

    assert len(command(b'{"lines":[' + b",".join(lines[:20]) + b"]}").lines) == 20
    assert [pointer for pointer, _ in wrong(b'{"lines":[' + b",".join(lines) + b"]}")] == ["/lines"]


def test_lines_of_one_product_are_added_up_and_sorted() -> None:
    """Split or reordered lines are the same request."""
    split = b"""{"lines": [{"product": "b", "quantity": 1}, {"quantity": 1, "product": "a"},
                           {"product": "b", "quantity": 2}]}"""

    assert command(split).lines == (Line("a", 1), Line("b", 3))
    assert command(split).fingerprint == PlaceOrder("ann", "other", (Line("a", 1), Line("b", 3))).fingerprint


def test_lines_of_one_product_add_up_to_1000_units_at_most() -> None:
    """What no single line may ask for, several may not either."""
    body = b'{"lines":[{"product":"tee","quantity":600},{"product":"tee","quantity":401}]}'

    assert wrong(body) == [("/lines", "must not add up to more than 1000 units of tee")]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b"{" + LINES + b"," + LINES + b"}", "/lines"),
        (b"{" + LINES + b',"request_id":"a","request_id":"b"}', "/request_id"),
        (b"{" + LINES + b',"request_id":"a","request_\\u0069d":"b"}', "/request_id"),
        (b'{"lines":[{"product":"a","quantity":1},{"product":"a","product":"b","quantity":1}]}', "/lines/1/product"),
    ],
)
def test_a_member_that_is_there_twice_is_refused(body: bytes, pointer: str) -> None:
    """Two readers could take such a body for two different orders; also where one name is written with escapes."""
    assert wrong(body) == [(pointer, "is there twice")]


def test_escapes_and_white_space_make_no_difference() -> None:
    """I07: `\\u0041` is A, and spaces between members are nothing."""
    plain = command(b'{"lines":[{"product":"A","quantity":1}]}')
    spaced = command(b' { "lines" : [ { "quantity" : 1 ,\n"product" : "\\u0041" } ] } ')

    assert spaced == plain


def test_an_expected_total_is_a_decimal_string_or_left_out() -> None:
    """`null` and nothing mean the same: the buyer does not mind the price."""
    assert command(b"{" + LINES + b',"expected_total":"19.9"}').expected_total == Decimal("19.90")
    assert command(b"{" + LINES + b',"expected_total":null}').expected_total is None
    assert command(b"{" + LINES + b"}").expected_total is None


def test_the_body_is_judged_before_the_request_id() -> None:
    """Whatever is wrong with the lines is said first."""
    body = intake.parse(b'{"lines":[{"product":"a","quantity":600},{"product":"a","quantity":600}]}')

    with pytest.raises(Invalid):
        intake.command_of(body, buyer="ann", in_header=None)
    with pytest.raises(RequestIdMissing):
        intake.command_of(intake.parse(b"{" + LINES + b"}"), buyer="ann", in_header=None)
