"""The verdict: journal and books together say whether the promises held."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from orders.stampede.journal import CREATED, SOLD_OUT, Journal, percentile_ms
from orders.stampede.plan import Plan


@dataclass(frozen=True)
class Verdict:
    """What came of a stampede.

    `requests` counts order calls sent, `placed` orders, `replayed` answers that repeated an order, `sold_out` and
    `refused` requests by their last answer, `errors` answers; `oversold` and `stranded` are units, `doubled` requests
    with more than one order and buyers past their limit. Latencies and throughput are of the rush alone.
    """

    buyers: int
    stock: int
    requests: int
    placed: int
    replayed: int
    sold_out: int
    refused: dict[str, int]
    errors: int
    oversold: int
    stranded: int
    doubled: int
    audit: str | list[str]
    seconds: float
    per_second: float
    p50_ms: float
    p99_ms: float
    #: Promises that did not hold, a sentence each.
    broken: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Give the members of the JSON object."""
        return {name: value for name, value in vars(self).items() if name != "broken"}


def judge(*, plan: Plan, rush: Journal, proof: Journal, seconds: float, available: int, breaches: list[str]) -> Verdict:
    """Judge a rush of so many seconds, the repeats of the proof after it, and the books with what is available."""
    everything = Journal([*rush.answers, *proof.answers])
    orders = everything.orders()
    ids = set().union(*orders.values())
    placed_by_product = Counter(wish.product for wish, found in orders.items() for _ in found)
    oversold = sum(max(0, placed - plan.stock) for placed in placed_by_product.values())
    stranded = min(available, len(everything.without_order()))
    doubled = _doubled(everything)
    refused = everything.refused()
    latencies = [answer.seconds for answer in rush.answers]
    return Verdict(
        buyers=plan.buyers,
        stock=plan.units,
        requests=len(everything.answers),
        placed=len(ids),
        replayed=sum(answer.is_replayed for answer in everything.answers),
        sold_out=refused[SOLD_OUT],
        refused=dict(refused),
        errors=everything.errors(),
        oversold=oversold,
        stranded=stranded,
        doubled=doubled,
        audit=breaches or "clean",
        seconds=round(seconds, 3),
        per_second=round(len(latencies) / seconds, 1) if seconds else 0.0,
        p50_ms=percentile_ms(latencies, 0.50),
        p99_ms=percentile_ms(latencies, 0.99),
        broken=tuple(_broken(everything, proof, oversold, stranded, doubled, breaches)),
    )


def _doubled(journal: Journal) -> int:
    """Count requests with several orders, and orders that several requests share."""
    orders = journal.orders()
    several = sum(len(found) > 1 for found in orders.values())
    shared = sum(count > 1 for count in Counter(order for found in orders.values() for order in found).values())
    return several + shared


def _broken(
    journal: Journal, proof: Journal, oversold: int, stranded: int, doubled: int, breaches: list[str]
) -> list[str]:
    checks = [
        (oversold, f"{oversold} units were sold that nobody had"),
        (stranded, f"{stranded} units are left although buyers were refused"),
        (doubled, f"{doubled} requests have more than one order"),
        (_not_replayed(journal, proof), "a repeated order was not replayed as it was"),
        (journal.undecided(), f"{journal.undecided()} requests never got an answer"),
        (breaches, "the books are not exact"),
    ]
    return [sentence for is_broken, sentence in checks if is_broken]


def _not_replayed(journal: Journal, proof: Journal) -> bool:
    """Tell whether a request that had an order was answered otherwise afterwards, or one order was new twice."""
    first = Counter(answer.order for answer in journal.answers if answer.status == CREATED and not answer.is_replayed)
    placed = {answer.wish for answer in journal.answers if answer.status == CREATED}
    late = [answer for answer in proof.answers if answer.wish in placed and answer.is_final]
    return any(count > 1 for count in first.values()) or any(answer.status != CREATED for answer in late)
