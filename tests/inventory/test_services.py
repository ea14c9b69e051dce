"""Seeding and adjusting: by movements, once, and never below zero."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from inventory import services
from inventory.exceptions import (
    InsufficientStock,
    Invalid,
    ProductNotFound,
    RequestIdReused,
    SkuTaken,
    StockVersionRequired,
    StockVersionStale,
)
from inventory.models import Stock, StockMovement
from orders import placing
from tests.races.sale import open_sale, prove, wants

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_SECONDS = 20


def seed(available: int, *, request_id: str = "seed", **more: Any) -> services.StockChange:  # further arguments
    """Seed the tee."""
    return services.seed(sku="tee", available=available, request_id=request_id, actor="staff", **more)


def adjust(delta: int, *, request_id: str = "adjust", reason: str = "counted") -> services.StockChange:
    """Adjust the tee."""
    return services.adjust(sku="tee", delta=delta, reason=reason, request_id=request_id, actor="staff")


def test_a_product_has_a_stock_row_from_the_first_moment() -> None:
    """Its stock is empty, and its ledger too."""
    services.create_product(sku="tee", name="Tee", price="19.90")

    assert Stock.objects.values_list("available", "version").get() == (0, 0)
    assert not StockMovement.objects.exists()


def test_a_sku_is_taken_once() -> None:
    """The second product of that name is refused."""
    open_sale("tee", total=0)

    with pytest.raises(SkuTaken):
        services.create_product(sku="tee", name="Other", price="1.00")


@pytest.mark.parametrize(
    "wrong", [{"price": "-1"}, {"sku": "a b"}, {"currency": "euro"}, {"limit_per_buyer": 0}, {"name": ""}]
)
def test_a_wrong_product_is_refused_with_the_place(wrong: dict[str, Any]) -> None:
    """What is wrong is named by a pointer."""
    with pytest.raises(Invalid) as refused:
        services.create_product(**{"sku": "tee", "name": "Tee", "price": "1.00"} | wrong)

    assert refused.value.errors[0][0].startswith("/")


def test_seeding_again_needs_the_version() -> None:
    """Without it 428, with an old one 412, with the right one or any it is done."""
    open_sale("tee", total=5)

    with pytest.raises(StockVersionRequired):
        seed(7, request_id="a")
    with pytest.raises(StockVersionStale):
        seed(7, request_id="a", if_versions=frozenset({0}))
    assert seed(7, request_id="a", if_versions=frozenset({1})).available == 7
    assert seed(3, request_id="b", if_versions=services.ANY).available == 3
    prove("tee")


def test_seeding_the_number_that_is_there_moves_nothing() -> None:
    """There is no movement of nothing."""
    open_sale("tee", total=5)

    change = seed(5, request_id="again", if_versions=services.ANY)

    assert (change.movement, change.version) == (None, 1)


def test_a_repeat_of_a_seeding_gives_the_same_entry() -> None:
    """It is answered before versions are compared, and whatever was sold since."""
    open_sale("tee", total=0)
    first = seed(5)
    placing.place([wants("tee")])

    again = seed(5)

    assert again.replayed
    assert again.movement == first.movement
    assert Stock.objects.get().available == 4


def test_a_retried_adjustment_is_one_entry() -> None:
    """I14: the answer was lost, the call is repeated."""
    open_sale("tee", total=5)

    first, again = adjust(2), adjust(2)

    assert (first.replayed, again.replayed) == (False, True)
    assert again.movement == first.movement
    assert StockMovement.objects.filter(kind="adjusted").count() == 1


def test_a_double_click_moves_once() -> None:
    """Two threads send the same form at the same moment."""
    open_sale("tee", total=5)
    barrier = Barrier(2, timeout=WAIT_SECONDS)

    def click() -> bool:
        barrier.wait()
        try:
            return adjust(2).replayed
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        clicks = [future.result(WAIT_SECONDS) for future in [threads.submit(click) for _ in range(2)]]

    assert sorted(clicks) == [False, True]
    assert Stock.objects.get().available == 7


def test_a_request_id_with_other_content_is_refused() -> None:
    """Another number, another reason, or another kind of call."""
    open_sale("tee", total=5)
    adjust(2)

    reuses: list[Callable[[], object]] = [
        lambda: adjust(3),
        lambda: adjust(2, reason="other"),
        lambda: seed(7, request_id="adjust"),
    ]
    for reuse in reuses:
        with pytest.raises(RequestIdReused):
            reuse()
    assert Stock.objects.get().available == 7


def test_an_adjustment_adds_to_what_is_there() -> None:
    """O12: staff see 5, one is sold meanwhile, they add 2: 6."""
    open_sale("tee", total=5)
    placing.place([wants("tee")])

    assert adjust(2).available == 6
    prove("tee")


def test_an_adjustment_never_takes_what_is_not_there() -> None:
    """O13: four of five are held; two cannot be taken away, and the number is named."""
    open_sale("tee", total=5)
    placing.place([wants({"tee": 4})])

    with pytest.raises(InsufficientStock) as refused:
        adjust(-2)

    assert refused.value.available == 1
    assert Stock.objects.get().available == 1
    prove("tee")


@pytest.mark.parametrize("delta", [0, services.UNITS_MAX + 1, -services.UNITS_MAX - 1])
def test_an_adjustment_has_limits(delta: int) -> None:
    """Nothing, and more than any sale."""
    open_sale("tee", total=5)

    with pytest.raises(Invalid):
        adjust(delta)


def test_the_stock_never_grows_past_its_limit() -> None:
    """Two adjustments that are fine alone would together be too much."""
    open_sale("tee", total=services.UNITS_MAX)

    with pytest.raises(Invalid):
        adjust(1)


@pytest.mark.parametrize("reason", ["", "   ", "two\nlines", "NUL \0", "x" * 501])
def test_a_reason_is_a_line_of_text(reason: str) -> None:
    """It stands in the ledger for ever."""
    open_sale("tee", total=5)

    with pytest.raises(Invalid):
        adjust(1, reason=reason)


def test_an_unknown_product_is_refused() -> None:
    """There is nothing to seed or to adjust."""
    for call in (lambda: seed(5), lambda: adjust(1), lambda: services.update_product(sku="tee", name="x")):
        with pytest.raises(ProductNotFound):
            call()


def test_a_new_name_leaves_the_stock_alone() -> None:
    """O11: one unit is sold while staff mend a typo in the name."""
    open_sale("tee", total=5)
    placing.place([wants("tee")])

    services.update_product(sku="tee", name="Red tee")

    assert Stock.objects.get().available == 4
    prove("tee")
