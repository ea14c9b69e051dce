"""The benchmark measures what it says, and is no part of the product."""

from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from bench import batches, figures, load, memory, report
from orders.auditing import audit
from orders.models import Order
from tests.workers import share_database

pytestmark = pytest.mark.django_db(transaction=True)

SECONDS = 0.5


@pytest.fixture(autouse=True)
def _workers_share_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let web workers and load use the database of this test, and not wait for a warm machine."""
    share_database(monkeypatch)
    monkeypatch.setattr(figures, "WARM_SECONDS", 0.0)
    monkeypatch.setattr(figures, "CONNECTIONS", 4)


def views(resolver: URLResolver) -> Iterator[str]:
    """List the modules of all views behind a URL configuration."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            yield getattr(pattern.callback, "__module__", "")
        else:
            yield from views(pattern)


def test_the_product_has_no_view_of_the_benchmark() -> None:
    """The negative control oversells: it exists in the benchmark's URLs alone."""
    assert not any(module.startswith("bench") for module in views(get_resolver("config.urls")))
    assert any(module.startswith("bench") for module in views(get_resolver("bench.urls")))


@pytest.mark.parametrize("figure", figures.FIGURES, ids=lambda figure: figure.name)
def test_each_figure_is_measured_and_leaves_exact_books(figure: figures.Figure) -> None:
    """Answers of the status that is meant are counted, and `measure` audits the books itself."""
    assert figures.measure(figure, seconds=SECONDS) > 0


def test_only_the_status_that_is_meant_counts() -> None:
    """A load that is refused is no throughput."""
    answered = load.Answered({201: 30, 503: 70}, seconds=2.0)

    assert answered.per_second(201) == 15.0


def test_batches_are_measured_beside_raw_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both write the same number of orders."""
    monkeypatch.setattr(batches, "ROUNDS", 2)

    placed, raw = batches.measure(3)

    assert min(placed, raw) > 0
    assert Order.objects.count() == 2 * 3 * (batches.ROUNDS + 2)


def test_memory_is_sampled_after_so_many_orders() -> None:
    """Each sample is taken when that many orders are there, and the books are exact."""
    samples = memory.measure((8, 20))

    assert list(samples) == [8, 20]
    assert min(samples.values()) > 0
    assert Order.objects.count() == 20
    assert [breach for product in audit() for breach in product.breaches] == []


def test_the_report_says_what_was_missed(capsys: pytest.CaptureFixture[str]) -> None:
    """A ratio below its target is named."""
    rates = {figures.FLOOR.name: [1000.0], figures.ACCEPTED.name: [100.0], figures.SINGLE.name: [20.0]}

    report.show(rates=rates, sizes={200: (500.0, 1000.0)}, samples={}, fsync_ms=0.1)

    said = capsys.readouterr().out
    assert "MISSED : accepted of the floor 0.10" in said
    assert "reached: accepted of one transaction per order 5.00" in said
    assert "reached: place() at 200 of raw SQL 0.50" in said
