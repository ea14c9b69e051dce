"""A machine that buys, repeats, adjusts, cancels and resets in any order: promises 1 to 3 hold after every step."""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from inventory import services
from inventory.exceptions import InsufficientStock
from inventory.models import Product, Stock
from orders import deciding, lifecycle, placing, resetting
from orders.auditing import audit
from orders.command import PlaceOrder, merge_lines
from orders.models import Order
from orders.outcomes import Placed, Refused

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES_MAX = 25
STEPS_MAX = 15
SECONDS_MAX = 180

SKUS = ("cap", "mug", "tee")
BUYERS = ("ann", "bob", "cem")
LIMITS = {"cap": 3, "mug": None, "tee": 2}
SEEDED = 6

lines = st.lists(st.tuples(st.sampled_from(SKUS), st.integers(1, 4)), min_size=1, max_size=3)
commands = st.builds(
    lambda buyer, number, wanted: PlaceOrder(buyer, f"r{number}", merge_lines(wanted)),
    st.sampled_from(BUYERS),
    st.integers(1, 12),
    lines,
)


@dataclass(frozen=True)
class Kept:
    """What the model knows of an order: who has it, what it was asked for, and what it holds while it lives."""

    order_id: object
    fingerprint: str
    units: tuple[tuple[str, int], ...]


class Shop(RuleBasedStateMachine):
    """The books, and beside them a model of a few lines that says what must be true."""

    def __init__(self) -> None:
        """Begin with an empty shop."""
        super().__init__()
        self.available = dict.fromkeys(SKUS, 0)
        self.seeded = dict.fromkeys(SKUS, 0)
        self.limits: dict[str, int | None] = dict(LIMITS)
        self.owned: dict[tuple[str, str], int] = defaultdict(int)
        self.orders: dict[tuple[str, str], Kept] = {}
        self.live: set[tuple[str, str]] = set()
        self.steps = 0

    @initialize()
    def open_the_shop(self) -> None:
        """Seed three products: one with a limit of 3, one of 2, one without."""
        resetting.delete_everything()
        for sku in SKUS:
            services.create_product(sku=sku, name=sku, price="5.00", limit_per_buyer=LIMITS[sku])
            services.seed(sku=sku, available=SEEDED, request_id="seed", actor="staff")
            self.available[sku] = self.seeded[sku] = SEEDED

    @rule(batch=st.lists(commands, min_size=1, max_size=6))
    def buy(self, batch: list[PlaceOrder]) -> None:
        """Place a batch, with repeats and reuses in it as they come."""
        for command, outcome in zip(batch, placing.place(batch), strict=True):
            expected = self._expected(command)
            if isinstance(outcome, Placed):
                assert expected == ("replayed" if outcome.replayed else "placed")
                self._keep(command, outcome)
            else:
                assert isinstance(outcome, Refused)
                assert outcome.refusal.code == expected

    @rule(sku=st.sampled_from(SKUS), delta=st.integers(-5, 5).filter(bool))
    def adjust(self, sku: str, delta: int) -> None:
        """Add or take away units, never more than are there; then say it again."""
        self.steps += 1
        adjust = partial(
            services.adjust, sku=sku, delta=delta, reason="counted", request_id=f"a{self.steps}", actor="staff"
        )
        if self.available[sku] + delta < 0:
            with pytest.raises(InsufficientStock):
                adjust()
            return
        self.available[sku] += delta
        assert [adjust().replayed for _ in range(2)] == [False, True]

    @rule(sku=st.sampled_from(SKUS), available=st.integers(0, 9))
    def seed(self, sku: str, available: int) -> None:
        """Bring what is available to another number; then say it again, unless nothing had to move."""
        self.steps += 1
        seed = partial(services.seed, sku=sku, request_id=f"s{self.steps}", actor="staff", if_versions=services.ANY)
        delta = available - self.available[sku]

        assert [seed(available=available).replayed for _ in range(2)] == [False, delta != 0]

        self.available[sku] = available
        self.seeded[sku] += delta

    @rule(sku=st.sampled_from(SKUS), limit=st.none() | st.integers(1, 6))
    def change_the_limit(self, sku: str, limit: int | None) -> None:
        """Raise, lower, take away or give a limit: it takes nothing from anybody."""
        services.update_product(sku=sku, limit_per_buyer=limit)
        self.limits[sku] = limit

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        """Cancel an order that lives, twice."""
        key = data.draw(st.sampled_from(sorted(self.live)))
        kept = self.orders[key]

        assert [lifecycle.cancel([kept.order_id], actor="staff") for _ in range(2)] == [1, 0]  # type: ignore[list-item]

        self._give_back(key)

    @rule(sku=st.sampled_from(SKUS))
    def reset(self, sku: str) -> None:
        """Begin the sale of one product anew."""
        for key in [key for key in self.live if sku in dict(self.orders[key].units)]:
            self._give_back(key)

        resetting.reset([sku])

        self.available[sku] = max(0, self.seeded[sku])

    @invariant()
    def the_books_prove_the_promises(self) -> None:
        """Stock, orders and limits are those of the model, and the audit finds nothing."""
        if not Product.objects.exists():
            return
        assert dict(Stock.objects.values_list("product__sku", "available")) == self.available
        assert {(order.buyer, order.request_id) for order in Order.objects.live()} == self.live
        assert Order.objects.count() == len(self.orders)
        assert [breach for product in audit() for breach in product.breaches] == []

    def _expected(self, command: PlaceOrder) -> str:
        kept = self.orders.get(command.key)
        if kept is not None:
            return "replayed" if kept.fingerprint == command.fingerprint else "request_id_reused"
        for line in command.lines:
            limit = self.limits[line.sku]
            if limit is not None and self.owned[command.buyer, line.sku] + line.quantity > limit:
                return "purchase_limit"
        if any(line.quantity > self.available[line.sku] for line in command.lines):
            return "sold_out"
        return "placed"

    def _keep(self, command: PlaceOrder, outcome: Placed) -> None:
        if outcome.replayed:
            assert outcome.order.id == self.orders[command.key].order_id
            return
        units = tuple((line.sku, line.quantity) for line in command.lines)
        self.orders[command.key] = Kept(outcome.order.id, command.fingerprint, units)
        self.live.add(command.key)
        for sku, quantity in units:
            self.available[sku] -= quantity
            self.owned[command.buyer, sku] += quantity

    def _give_back(self, key: tuple[str, str]) -> None:
        self.live.remove(key)
        for sku, quantity in self.orders[key].units:
            self.available[sku] += quantity
            self.owned[key[0], sku] -= quantity


def run(*phases: Phase) -> None:
    """Let the machine run through many histories."""
    run_state_machine_as_test(
        Shop,
        settings=settings(
            max_examples=EXAMPLES_MAX,
            stateful_step_count=STEPS_MAX,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.timeout(SECONDS_MAX)
def test_the_promises_hold_whatever_is_done_in_whatever_order() -> None:
    """Promises 1 to 3: never oversold, exactly once, limits hold."""
    run(Phase.generate, Phase.shrink)


@pytest.mark.timeout(SECONDS_MAX)
@pytest.mark.parametrize("check", ["_check_limits", "_check_stock", "_replay"])
def test_the_machine_finds_a_decision_that_is_wrong(monkeypatch: pytest.MonkeyPatch, check: str) -> None:
    """The twin: without one of the checks, some history ends in what the model does not expect."""
    wrong = {"_replay": lambda _, __, order: Placed(order, replayed=True)}
    monkeypatch.setattr(deciding, check, wrong.get(check, lambda *_: None))

    with pytest.raises((AssertionError, InsufficientStock, ExceptionGroup)):
        run(Phase.generate)
