"""Asyncio tasks and the locks of keys, alone and together with threads."""

import asyncio
import time

import pytest

from locking import local
from locking.exceptions import LockTimeout, LockUsageError
from tests.locking.elsewhere import race
from tests.locking.local.crowd import A_MOMENT_SECONDS, SECONDS_MAX, Room, enter, thread, until_waiting, waiting


def test_never_two_tasks_are_inside_one_key() -> None:
    """Twenty tasks that pause inside are alone there."""
    inside = most = 0

    async def visit() -> None:
        nonlocal inside, most
        async with local.keyed("a"):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    async def main() -> None:
        await asyncio.gather(*(visit() for _ in range(20)))

    asyncio.run(main())

    assert most == 1


def test_threads_and_tasks_of_several_loops_exclude_each_other() -> None:
    """Four threads and four loops of five tasks visit one room, each alone, each counted."""
    room = Room()

    async def visit() -> None:
        for _ in range(50):
            async with local.keyed("a"):
                room.visit()

    async def main() -> None:
        await asyncio.gather(*(visit() for _ in range(5)))

    def work(number: int) -> None:
        if number % 2:
            asyncio.run(main())
            return
        for _ in range(250):
            with local.keyed("a"):
                room.visit()

    race(work, threads=8)

    assert (room.most, room.visits) == (1, 8 * 250)


def test_a_task_does_not_block_its_loop_while_a_thread_holds_the_key() -> None:
    """The loop goes on with other work, and the task enters when the thread has left."""

    async def main() -> None:
        task = asyncio.create_task(enter("a"))
        await until_waiting("a", 1)  # Its sleeps are the other work.
        assert not task.done()
        local.keyed("a").release()
        await asyncio.wait_for(task, SECONDS_MAX)

    with thread(lambda: local.keyed("a").acquire(timeout=0)):
        pass
    asyncio.run(main())


def test_a_plain_block_does_block_the_loop() -> None:
    """The twin: a task that waits with the thread's call lets nothing else run."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async def main() -> None:
        ticking = asyncio.create_task(tick())
        with pytest.raises(LockTimeout):
            local.keyed("a").acquire(timeout=A_MOMENT_SECONDS)
        ticking.cancel()

    with local.keyed("a"):
        asyncio.run(main())

    assert ticks == 0


def test_tasks_are_served_in_the_order_they_came() -> None:
    """Ten tasks wait, and enter first come, first served."""
    served: list[int] = []

    async def main() -> None:
        async with local.keyed("a"):
            tasks = [asyncio.create_task(enter("a", served, number)) for number in range(10)]
            await until_waiting("a", 10)
        await asyncio.gather(*tasks)

    asyncio.run(main())

    assert served == list(range(10))


def test_the_wait_of_a_task_ends() -> None:
    """A task is told after its time-out, not before, and waits no more."""

    async def main() -> None:
        began_at = time.monotonic()
        with pytest.raises(LockTimeout, match="'a'"):
            await local.keyed("a").aacquire(timeout=A_MOMENT_SECONDS)

        # The clock of a loop has a resolution, and its timers may be early by it.
        assert time.monotonic() - began_at > A_MOMENT_SECONDS - 0.001
        assert waiting("a") == 0

    with local.keyed("a"):
        asyncio.run(main())


def test_a_task_takes_within_its_time_out() -> None:
    """A task that waits with a limit enters when the lock is released before."""

    async def main() -> None:
        task = asyncio.create_task(local.keyed("a").aacquire(timeout=SECONDS_MAX))
        await until_waiting("a", 1)
        local.keyed("a").release()
        await task

    local.keyed("a").acquire(timeout=0)
    asyncio.run(main())
    local.keyed("a").release()


def test_a_task_may_try_and_any_thread_may_release() -> None:
    """A try never waits; what a task has taken, a thread releases."""

    async def main() -> list[bool]:
        return [await local.keyed("a").atry_acquire() for _ in range(2)]

    tried = asyncio.run(main())
    local.keyed("a").release()

    assert tried == [True, False]


def test_the_wait_of_a_task_is_finite() -> None:
    """A wait without an end is refused, and nothing is held."""
    with pytest.raises(LockUsageError):
        asyncio.run(local.keyed("a").aacquire(timeout=float("nan")))
