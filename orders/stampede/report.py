"""What a person sees of a stampede."""

from rich.console import Console
from rich.table import Table

from orders.stampede.plan import NONE, Plan
from orders.stampede.verdict import Verdict

BREACHES_SHOWN = 5


def show(console: Console, *, plan: Plan, verdict: Verdict) -> None:
    """Print the table and the sentence of the proof."""
    console.print(_table(plan, verdict))
    for breach in [] if verdict.audit == "clean" else list(verdict.audit)[:BREACHES_SHOWN]:
        console.print(f"  {breach}", markup=False, highlight=False)
    console.print(conclusion(plan=plan, verdict=verdict), markup=False, highlight=False)


def conclusion(*, plan: Plan, verdict: Verdict) -> str:
    """Say in one sentence what was shown."""
    if plan.admission == NONE:
        return _of_the_control(verdict)
    if verdict.broken:
        return f"BROKEN: {'; '.join(verdict.broken)}."
    return f"{verdict.placed} of {plan.units} sold, {verdict.sold_out} sold out, every repeat replayed, books exact."


def _of_the_control(verdict: Verdict) -> str:
    if verdict.oversold:
        return f"The negative control oversold by {verdict.oversold} units: read, decide, write is not enough."
    return "The negative control did NOT oversell: this run proves nothing, use more buyers or concurrency."


def _table(plan: Plan, verdict: Verdict) -> Table:
    title = f"{plan.buyers} buyers, {plan.units} units, {plan.repeats} x each request, admission {plan.admission}"
    table = Table(title=title, show_header=False, title_justify="left")
    other = {code: count for code, count in verdict.refused.items() if code != "sold_out"}
    rows = {
        "order calls": f"{verdict.requests:,}",
        "placed": f"{verdict.placed:,}",
        "replayed": f"{verdict.replayed:,}",
        "sold out": f"{verdict.sold_out:,}",
        "refused otherwise": ", ".join(f"{code} {count}" for code, count in sorted(other.items())) or "0",
        "errors": f"{verdict.errors:,}",
        "oversold / stranded / doubled": f"{verdict.oversold} / {verdict.stranded} / {verdict.doubled}",
        "latency p50 / p99": f"{verdict.p50_ms:,.0f} ms / {verdict.p99_ms:,.0f} ms",
        "throughput": f"{verdict.per_second:,.0f} answers/s over {verdict.seconds:.1f} s",
        "audit": "clean" if verdict.audit == "clean" else f"{len(verdict.audit)} breaches",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table
