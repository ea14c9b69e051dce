"""The table of the benchmark, as Markdown: what the README shows is what was printed."""

import platform
import sys
from collections.abc import Mapping, Sequence

from bench import figures

#: What the figures are meant to reach.
ACCEPTED_OF_FLOOR = 0.2
ACCEPTED_OF_SINGLE = 2.5
PLACE_OF_RAW = 0.4


def show(
    *,
    rates: Mapping[str, Sequence[float]],
    sizes: Mapping[int, tuple[float, float]],
    samples: Mapping[int, float],
    fsync_ms: float,
) -> None:
    """Print all tables."""
    lines = [*_http(rates), "", *_batches(sizes), "", *_memory(samples), "", f"fdatasync: {fsync_ms:.2f} ms (median)."]
    lines += [f"Python {platform.python_version()}, {figures.CONNECTIONS} connections, {figures.WORKERS} workers."]
    sys.stdout.write("\n".join([*lines, *_targets(rates, sizes), ""]))


def _http(rates: Mapping[str, Sequence[float]]) -> list[str]:
    floor = rates[figures.FLOOR.name]
    lines = ["| figure | workers x threads | answers/s (median, range) | of the floor |", "| --- | --- | --- | --- |"]
    threads = {figure.name: figure.threads for figure in figures.FIGURES}
    for name, values in rates.items():
        ratio = figures.median([value / base for value, base in zip(values, floor, strict=True)])
        spread = f"{figures.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"
        lines.append(f"| {name} | {figures.WORKERS} x {threads[name]} | {spread} | {ratio:.2f} |")
    return lines


def _batches(sizes: Mapping[int, tuple[float, float]]) -> list[str]:
    if not sizes:
        return []
    lines = ["| batch | `place()` orders/s | raw SQL orders/s | ratio |", "| --- | --- | --- | --- |"]
    return lines + [
        f"| {size} | {placed:,.0f} | {raw:,.0f} | {placed / raw:.2f} |" for size, (placed, raw) in sizes.items()
    ]


def _memory(samples: Mapping[int, float]) -> list[str]:
    if not samples:
        return []
    grown = ", ".join(f"{mib:.0f} MiB after {orders:,}" for orders, mib in samples.items())
    return [f"Memory of the largest web worker: {grown} orders."]


def _targets(rates: Mapping[str, Sequence[float]], sizes: Mapping[int, tuple[float, float]]) -> list[str]:
    lines = []
    accepted = rates.get(figures.ACCEPTED.name)
    if accepted:
        lines.append(_target("accepted of the floor", accepted, rates[figures.FLOOR.name], ACCEPTED_OF_FLOOR))
    if accepted and figures.SINGLE.name in rates:
        single = rates[figures.SINGLE.name]
        lines.append(_target("accepted of one transaction per order", accepted, single, ACCEPTED_OF_SINGLE))
    if sizes:
        placed, raw = sizes[max(sizes)]
        lines.append(_target(f"place() at {max(sizes)} of raw SQL", [placed], [raw], PLACE_OF_RAW))
    return lines


def _target(name: str, values: Sequence[float], base: Sequence[float], least: float) -> str:
    ratio = figures.median([value / divisor for value, divisor in zip(values, base, strict=True)])
    return f"{'reached' if ratio >= least else 'MISSED '}: {name} {ratio:.2f} (at least {least})"
