"""The verdict: a journal with damage in it is never taken for a good one."""

import pytest

from orders.stampede.journal import Answer, Journal, percentile_ms
from orders.stampede.plan import NONE, Plan, Wish
from orders.stampede.report import conclusion
from orders.stampede.verdict import Verdict, judge


def make_plan(*, buyers: int = 3, stock: int = 1, admission: str = "direct") -> Plan:
    """Plan a sale of one product."""
    return Plan(run="r", buyers=buyers, stock=stock, repeats=1, concurrency=1, products=1, admission=admission)


def placed(wish: Wish, order: str, *, is_replayed: bool = False) -> Answer:
    """Answer with an order."""
    return Answer(wish, 201, 0.01, order=order, is_replayed=is_replayed)


def sold_out(wish: Wish) -> Answer:
    """Answer that nothing is left."""
    return Answer(wish, 409, 0.01, code="sold_out")


def judged(
    plan: Plan, rush: list[Answer], proof: list[Answer], *, available: int = 0, breaches: list[str] | None = None
) -> Verdict:
    """Judge answers of a second."""
    return judge(
        plan=plan,
        rush=Journal(rush),
        proof=Journal(proof),
        seconds=1.0,
        available=available,
        breaches=breaches or [],
    )


def test_a_clean_sale_breaks_nothing() -> None:
    """One unit, three buyers: one order that is replayed, two who came late."""
    first, second, third = make_plan().wishes
    rush = [placed(first, "a"), sold_out(second), sold_out(third)]

    verdict = judged(make_plan(), rush, [placed(first, "a", is_replayed=True)])

    assert verdict.broken == ()
    assert (verdict.placed, verdict.replayed, verdict.sold_out, verdict.requests) == (1, 1, 2, 4)
    assert "books exact" in conclusion(plan=make_plan(), verdict=verdict)


def test_one_order_too_many_is_oversold() -> None:
    """Two orders of one unit."""
    first, second, third = make_plan().wishes

    verdict = judged(make_plan(), [placed(first, "a"), placed(second, "b"), sold_out(third)], [])

    assert verdict.oversold == 1
    assert any("sold that nobody had" in sentence for sentence in verdict.broken)


def test_a_unit_that_is_left_while_buyers_were_refused_is_stranded() -> None:
    """Nobody got the unit, and it is still there."""
    first, second, third = make_plan().wishes

    verdict = judged(make_plan(), [sold_out(first), sold_out(second), sold_out(third)], [], available=1)

    assert verdict.stranded == 1
    assert verdict.broken


def test_two_orders_for_one_request_are_doubled() -> None:
    """The repeat of a request made a second order."""
    first, *_ = make_plan(stock=2).wishes

    verdict = judged(make_plan(stock=2), [placed(first, "a"), placed(first, "b")], [])

    assert verdict.doubled == 1
    assert verdict.broken


def test_one_order_for_two_requests_is_doubled() -> None:
    """Two buyers were shown the same order."""
    first, second, _ = make_plan(stock=2).wishes

    verdict = judged(make_plan(stock=2), [placed(first, "a"), placed(second, "a", is_replayed=True)], [])

    assert verdict.doubled == 1


def test_a_repeat_that_is_refused_breaks_the_promise() -> None:
    """An order that was confirmed is sold out to its own buyer afterwards."""
    first, *_ = make_plan().wishes

    verdict = judged(make_plan(), [placed(first, "a")], [sold_out(first)])

    assert any("not replayed" in sentence for sentence in verdict.broken)


def test_an_order_that_is_new_twice_breaks_the_promise() -> None:
    """A repeat must say that it is one."""
    first, *_ = make_plan().wishes

    verdict = judged(make_plan(), [placed(first, "a")], [placed(first, "a")])

    assert any("not replayed" in sentence for sentence in verdict.broken)


def test_a_breach_of_the_books_breaks_the_promise() -> None:
    """What the audit names stands in the verdict."""
    first, *_ = make_plan().wishes

    verdict = judged(make_plan(), [placed(first, "a")], [], breaches=["x: a breach"])

    assert verdict.audit == ["x: a breach"]
    assert verdict.broken


@pytest.mark.parametrize("status", [None, 500, 503, 302, 418])
def test_unknown_answers_are_errors(status: int | None) -> None:
    """A broken connection, 5xx, and statuses outside the contract; a request with nothing else is unanswered."""
    first, *_ = make_plan().wishes

    verdict = judged(make_plan(), [Answer(first, status, 0.01)], [])

    assert verdict.errors == 1
    assert any("never got an answer" in sentence for sentence in verdict.broken)


def test_the_negative_control_is_judged_by_its_overselling() -> None:
    """It must oversell; where it does not, the test was too weak to see anything."""
    plan = make_plan(admission=NONE)
    first, second, _ = plan.wishes

    oversold = judged(plan, [placed(first, "a"), placed(second, "b")], [])
    exact = judged(plan, [placed(first, "a"), sold_out(second)], [])

    assert "oversold by 1" in conclusion(plan=plan, verdict=oversold)
    assert "did NOT oversell" in conclusion(plan=plan, verdict=exact)


def test_percentiles_are_those_of_the_nearest_rank() -> None:
    """Of 1 to 100 ms the median is 50, the 99th percentile 99; of nothing it is 0."""
    seconds = [number / 1000 for number in range(1, 101)]

    assert percentile_ms(seconds, 0.5) == 50.0
    assert percentile_ms(seconds, 0.99) == 99.0
    assert percentile_ms([], 0.5) == 0.0
