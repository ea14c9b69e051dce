"""Threads that begin at one moment and end within a bound, and a book in which two at once are seen."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from locking import local
from locking.local import keys

#: For a race of seconds on a machine that is busy with other things.
SECONDS_MAX = 60.0
#: Long enough to see that nothing happens, short enough to be waited for.
A_MOMENT_SECONDS = 0.05


class Room:
    """A room that counts who is inside. It is wide: who enters gives the others every chance to enter too."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.visits = 0

    def visit(self, pause_seconds: float = 0) -> None:
        """Enter, look around, and leave."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        visits = self.visits
        time.sleep(pause_seconds)
        self.visits = visits + 1
        self.inside -= 1


@contextmanager
def thread(job: Callable[[], object]) -> Iterator[None]:
    """Run `job` in a thread while the block runs, and wait for its end; raise what it raised."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(job)
        yield
        future.result(SECONDS_MAX)


def quiet_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop that may be closed with tasks that wait: no word when they are collected."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)
    return loop


def waiting(key: str) -> int:
    """Return how many wait for the key."""
    return len(keys._table.lines.get(key, []))


async def enter(key: str, served: list[int] | None = None, number: int = 0) -> None:
    """Take the key, say so, and leave."""
    async with local.keyed(key):
        if served is not None:
            served.append(number)


async def until_waiting(key: str, count: int) -> None:
    """Let the loop run until so many wait for the key."""
    async with asyncio.timeout(SECONDS_MAX):
        while waiting(key) != count:
            await asyncio.sleep(0.001)
