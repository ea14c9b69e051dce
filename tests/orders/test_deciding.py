"""What is refused, in memory, against the books as they were read."""

from datetime import timedelta

import pytest
from uuid_utils.compat import uuid7

from inventory.exceptions import Invalid
from orders import deciding
from orders.exceptions import PurchaseLimit, SaleNotOpen, SoldOut
from orders.outcomes import Placed
from tests.orders.as_read import NOW, decide, order_of, read, refusal_of, stocked, wants

HOUR = timedelta(hours=1)


# --- The order of refusals ----------------------------------------------------------------------


def test_refusals_come_in_the_order_of_the_contract() -> None:
    """Where several apply, the first of: mismatch, unknown product, window, limit, stock, price."""
    row = stocked(active=False, opens_at=NOW + HOUR, limit_per_buyer=1, available=1)
    books = read(row)
    command = wants(("tee", 2), total="1.00")
    books.orders[command.key] = ("v1:of other lines", order_of(read(stocked()), wants()))
    codes = decide(books, command)

    books.orders.clear()
    codes += decide(books, command)
    for name, value in {"active": True, "opens_at": None, "limit_per_buyer": None, "available": 5}.items():
        setattr(row, name, value)
        codes += decide(books, command)
    codes += decide(books, wants(("tee", 2), total="39.80"))

    assert codes == [
        "request_id_reused",
        "unknown_product",
        "sale_not_open",
        "purchase_limit",
        "sold_out",
        "price_changed",
        "placed",
    ]


def test_a_replay_is_answered_before_anything_else() -> None:
    """I05: what became of the product since is no concern of a placed order."""
    row = stocked()
    books = read(row)
    first = order_of(books, wants())

    row.active, row.available = False, 0
    [outcome] = deciding.decide([wants()], books, new_id=uuid7)

    assert outcome == Placed(first, replayed=True)


def test_a_product_that_is_not_there_and_one_that_was_withdrawn_are_unknown() -> None:
    """Neither is on sale."""
    books = read(stocked("old", active=False))

    assert decide(books, wants(("tee", 1)), wants(("old", 1))) == ["unknown_product", "unknown_product"]


def test_an_order_has_one_currency() -> None:
    """A total of two currencies is no number."""
    refusal = refusal_of(read(stocked("cup"), stocked("tee", currency="USD")), wants(("cup", 1), ("tee", 1)))

    assert isinstance(refusal, Invalid)
    assert refusal.errors == (("/lines", "must all be of one currency"),)


# --- The window ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opens_in", "closes_in", "code"),
    [
        (timedelta(microseconds=1), HOUR, "sale_not_open"),
        (timedelta(0), HOUR, "placed"),
        (-HOUR, timedelta(microseconds=1), "placed"),
        (-HOUR, timedelta(0), "sale_not_open"),
        (-2 * HOUR, -HOUR, "sale_not_open"),
        (-HOUR, None, "placed"),
        (None, HOUR, "placed"),
    ],
)
def test_a_sale_is_open_from_its_opening_up_to_its_close(
    opens_in: timedelta | None, closes_in: timedelta | None, code: str
) -> None:
    """O19: the opening belongs to the sale, the close does not; what is refused takes nothing."""
    row = stocked(
        opens_at=None if opens_in is None else NOW + opens_in,
        closes_at=None if closes_in is None else NOW + closes_in,
    )

    assert decide(read(row), wants()) == [code]
    assert row.available == (9 if code == "placed" else 10)


def test_who_comes_too_early_is_told_when_to_come_again() -> None:
    """O19: Retry-After before it opens, none after it has closed."""
    early = refusal_of(read(stocked(opens_at=NOW + HOUR)), wants())
    late = refusal_of(read(stocked(closes_at=NOW - HOUR)), wants())

    assert isinstance(early, SaleNotOpen)
    assert early.retry_after_seconds == 3601
    assert late.retry_after_seconds is None


# --- Limits -------------------------------------------------------------------------------------


def test_a_limit_counts_all_live_orders_of_the_buyer() -> None:
    """O15: 1 + 1 under a limit of 2, the third is refused, and told what he has."""
    books = read(stocked(limit_per_buyer=2))

    codes = decide(books, wants(request_id="one"), wants(request_id="two"))
    refusal = refusal_of(books, wants(request_id="three"))

    assert codes == ["placed", "placed"]
    assert isinstance(refusal, PurchaseLimit)
    assert refusal.members() == {"product": "tee", "limit": 2, "owned": 2}


def test_a_lowered_limit_takes_nothing_and_gives_nothing() -> None:
    """O26: who has four under a limit of two buys no more."""
    row = stocked(limit_per_buyer=2)
    books = read(row)
    books.tallies[row.product_id, "ann"] = 4

    assert decide(books, wants()) == ["purchase_limit"]


# --- Stock --------------------------------------------------------------------------------------


def test_lines_of_one_product_count_together() -> None:
    """O03: 10 and 5 take 15; 3 and 3 of 5 are refused whole."""
    plenty, few = stocked(available=20), stocked(available=5)

    assert decide(read(plenty), wants(("tee", 10), ("tee", 5))) == ["placed"]
    assert decide(read(few), wants(("tee", 3), ("tee", 3))) == ["sold_out"]
    assert (plenty.available, few.available) == (5, 5)


def test_one_line_that_is_sold_out_leaves_the_others_untouched() -> None:
    """O10: all lines or none."""
    rows = [stocked(sku, available=0 if sku == "c" else 2) for sku in "abcde"]
    books = read(*rows)

    codes = decide(books, wants(*[(sku, 1) for sku in "abcde"]))

    assert codes == ["sold_out"]
    assert [row.available for row in rows] == [2, 2, 0, 2, 2]
    assert (books.placed, books.movements, books.tallies) == ([], [], {})


def test_sold_out_says_what_is_left_of_every_line() -> None:
    """A buyer may order again with what there is."""
    refusal = refusal_of(read(stocked("cup", available=3), stocked(available=1)), wants(("cup", 2), ("tee", 2)))

    assert refusal.members()["lines"] == [{"product": "cup", "available": 3}, {"product": "tee", "available": 1}]


@pytest.mark.parametrize(("held", "retryable"), [(0, False), (1, False), (2, True)])
def test_sold_out_may_be_tried_again_while_holds_could_end(held: int, *, retryable: bool) -> None:
    """Units that are only held may come back; Retry-After says when to ask."""
    refusal = refusal_of(read(stocked(available=0, held=held)), wants(("tee", 2)))

    assert isinstance(refusal, SoldOut)
    assert refusal.members()["retryable"] is retryable
    assert (refusal.retry_after_seconds is not None) is retryable


def test_commands_are_decided_in_the_order_of_their_arrival() -> None:
    """Who came first has the units; a smaller order may still fit after a larger one did not."""
    books = read(stocked(available=3))

    codes = decide(books, *[wants(("tee", units), request_id=f"{n}") for n, units in enumerate((2, 2, 1))])

    assert codes == ["placed", "sold_out", "placed"]
