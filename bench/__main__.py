"""`python -m bench`: every figure in one run, each as a ratio of the floor."""

import argparse
import os
import sys
import tempfile
import time

from bench import STATE_DIR, django_ready

os.environ["STATE_DIR"] = str(STATE_DIR)
os.environ.setdefault("LOG_LEVEL", "ERROR")

SECONDS_DEFAULT = 4.0
ROUNDS_DEFAULT = 3
FSYNCS = 200
FSYNC_BYTES = 8192


def main() -> None:
    """Measure and print."""
    options = _options()
    from config import embedded

    embedded.ensure_running()
    django_ready()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    try:
        _run(options)
    finally:
        for server in embedded.servers():
            server.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS_DEFAULT, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=ROUNDS_DEFAULT, help="of all figures; medians are shown")
    parser.add_argument("--only", help="figures whose name has this text, beside the floor")
    parser.add_argument("--no-memory", action="store_true", help="leave out the 100,000 orders of the memory figure")
    return parser.parse_args()


def _run(options: argparse.Namespace) -> None:
    from bench import batches, figures, memory, report

    wanted = [figure for figure in figures.FIGURES if figure is figures.FLOOR or (options.only or "") in figure.name]
    rates: dict[str, list[float]] = {figure.name: [] for figure in wanted}
    for number in range(options.rounds):
        # Every other round runs backwards: what drifts on a shared machine meets all figures alike.
        for figure in wanted[:: -1 if number % 2 else 1]:
            rate = figures.measure(figure, seconds=options.seconds)
            rates[figure.name].append(rate)
            sys.stderr.write(f"round {number + 1}: {figure.name}: {rate:,.0f}/s\n")
    sizes = {} if options.only else {size: batches.measure(size) for size in batches.SIZES}
    samples = {} if options.only or options.no_memory else memory.measure()
    report.show(rates=rates, sizes=sizes, samples=samples, fsync_ms=_fsync_ms())


def _fsync_ms() -> float:
    """Give the median time of an fdatasync of one page, on the disk that holds the database."""
    took = []
    with tempfile.NamedTemporaryFile(dir=STATE_DIR) as file:
        for _ in range(FSYNCS):
            os.pwrite(file.fileno(), os.urandom(FSYNC_BYTES), 0)
            started_at = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - started_at)
    return sorted(took)[FSYNCS // 2] * 1000


if __name__ == "__main__":
    main()
