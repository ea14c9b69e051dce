"""Other holders: threads and processes beside that of the test."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from locking import Lease, Lock

SECONDS_MAX = 20.0
Result = TypeVar("Result")


def in_thread(function: Callable[[], Result]) -> Result:
    """Run a function in another thread, and give what it returns."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function).result(SECONDS_MAX)


def acquired(lock: Lock) -> Lease:
    """Acquire in another thread; any thread may release."""
    return in_thread(lock.acquire)


@contextmanager
def waiting(lock: Lock) -> Iterator["Future[Lease]"]:
    """Let another thread wait for a lock inside the block."""
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(lock.acquire)
        until(lambda: any(one.fence is None and one.name == lock.name for one in lock.backend.holdings()))
        yield future


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, within bounds."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, "it has not come true"
        time.sleep(0.005)


def race(job: Callable[[int], None], *, threads: int) -> None:
    """Call `job(0)`, `job(1)`, ... each in a thread of its own, all at one moment; raise what any of them raised."""
    barrier = threading.Barrier(threads)

    def run(number: int) -> None:
        barrier.wait(SECONDS_MAX)
        job(number)

    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(run, number) for number in range(threads)]:
            future.result(SECONDS_MAX)
