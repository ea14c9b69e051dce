"""The fingerprint of a request, which is kept for ever and must never become another."""

from decimal import Decimal

from orders.command import Line, PlaceOrder, merge_lines


def fingerprint(*lines: tuple[str, int], buyer: str = "ann", request_id: str = "one") -> str:
    """Take the fingerprint of a request for these lines."""
    return PlaceOrder(buyer, request_id, merge_lines(lines)).fingerprint


def test_a_fingerprint_of_this_version_stays_what_it_is() -> None:
    """Orders of years ago are compared with it: another rule needs another prefix."""
    assert fingerprint(("tee-red", 1)) == "v1:0eda248ad89bb5714392636be92d4f0f"
    assert fingerprint(("cup", 2), ("tee-red", 13)) == "v1:534638c1a1091f3b8c0a59ee0ea8bba4"


def test_lines_split_merged_or_reordered_are_the_same_request() -> None:
    """I07: what counts is how many units of what."""
    assert merge_lines([("tee", 1), ("cup", 2), ("tee", 3)]) == (Line("cup", 2), Line("tee", 4))
    assert fingerprint(("tee", 1), ("cup", 2), ("tee", 3)) == fingerprint(("cup", 2), ("tee", 4))


def test_other_lines_are_another_request() -> None:
    """A digit cannot wander from one line, or from the sku, to its neighbour."""
    baskets = [[("tee", 11)], [("tee", 1)], [("tee1", 1)], [("tee", 1), ("tee1", 1)], [("tee", 1), ("cup", 1)]]

    assert len({fingerprint(*lines) for lines in baskets}) == len(baskets)


def test_the_fingerprint_is_of_the_lines_alone() -> None:
    """Buyer and request id are the key; the expected total is a condition of one call."""
    plain = fingerprint(("tee", 1))
    cautious = PlaceOrder("bob", "two", merge_lines([("tee", 1)]), expected_total=Decimal("19.90"))

    assert cautious.fingerprint == plain
