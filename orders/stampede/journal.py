"""The journal: every answer to every request, as it came."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil

from orders.stampede.plan import Wish

CREATED = 201
SOLD_OUT = "sold_out"
#: Statuses that the contract knows for an order call; anything else is an error.
KNOWN = {201, 400, 401, 403, 409, 413, 415, 422, 429}
#: Answers after which the same request may be sent again: nothing was decided for good.
UNDECIDED = {"request_in_progress", "throttled"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `status` is None for a broken connection, `code` a problem's, `order` an order's id."""

    wish: Wish
    status: int | None
    seconds: float
    code: str = ""
    order: str = ""
    is_replayed: bool = False

    @property
    def is_error(self) -> bool:
        """Tell whether the outcome is unknown, or the answer unknown to the contract."""
        return self.status not in KNOWN

    @property
    def is_final(self) -> bool:
        """Tell whether the request was decided."""
        return not self.is_error and self.code not in UNDECIDED


@dataclass
class Journal:
    """All answers, in the order in which they came."""

    answers: list[Answer] = field(default_factory=list)

    def orders(self) -> dict[Wish, set[str]]:
        """Give the orders that each request was answered with: one each, if all is well."""
        found: dict[Wish, set[str]] = defaultdict(set)
        for answer in self.answers:
            if answer.status == CREATED:
                found[answer.wish].add(answer.order)
        return dict(found)

    def refused(self) -> Counter[str]:
        """Count the requests that got no order by the last thing they were told."""
        placed = self.orders()
        last = {answer.wish: answer.code for answer in self.answers if answer.is_final and answer.wish not in placed}
        return Counter(last.values())

    def without_order(self) -> list[Wish]:
        """List the requests that have no order, each once, in the order of their first answer."""
        placed = self.orders()
        return [wish for wish in dict.fromkeys(answer.wish for answer in self.answers) if wish not in placed]

    def undecided(self) -> int:
        """Count the requests that were never given a final answer."""
        decided = {answer.wish for answer in self.answers if answer.is_final}
        return len({answer.wish for answer in self.answers} - decided)

    def errors(self) -> int:
        """Count 5xx, broken connections, and answers that the contract does not know."""
        return sum(answer.is_error for answer in self.answers)


def percentile_ms(seconds: Iterable[float], share: float) -> float:
    """Give the latency in milliseconds that this share of the answers kept (nearest rank)."""
    ranked = sorted(seconds)
    return round(ranked[max(0, ceil(share * len(ranked)) - 1)] * 1000, 1) if ranked else 0.0
