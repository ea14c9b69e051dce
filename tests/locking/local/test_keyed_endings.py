"""Tasks that are cancelled and loops that end while they wait for a key, or at the moment they are granted it."""

import asyncio
import contextlib
import gc

import pytest

from locking import local
from tests.locking.elsewhere import until
from tests.locking.local.crowd import A_MOMENT_SECONDS, SECONDS_MAX, enter, quiet_loop, thread, until_waiting, waiting


def test_a_cancelled_wait_leaves_the_line() -> None:
    """A task that is cancelled while it waits is passed over, and the next one enters."""
    served: list[int] = []

    async def main() -> None:
        async with local.keyed("a"):
            tasks = [asyncio.create_task(enter("a", served, number)) for number in range(3)]
            await until_waiting("a", 3)
            tasks[0].cancel()
            await until_waiting("a", 2)
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())

    assert served == [1, 2]


def woken_and_cancelled(served: list[int]) -> None:
    """Grant the key to the first of two waiting tasks, and cancel it before it runs."""

    async def main() -> None:
        await local.keyed("a").aacquire(timeout=0)
        tasks = [asyncio.create_task(enter("a", served, number)) for number in range(2)]
        await until_waiting("a", 2)
        local.keyed("a").release()
        tasks[0].cancel()
        await asyncio.wait(tasks, timeout=A_MOMENT_SECONDS)

    asyncio.run(main())


def test_a_woken_waiter_that_is_cancelled_wakes_the_next() -> None:
    """The lock that was granted to a task which never runs again goes on to the next."""
    served: list[int] = []

    woken_and_cancelled(served)

    assert served == [1]


def test_a_woken_waiter_that_does_not_give_up_keeps_the_lock_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: without giving up what was granted, nobody ever enters."""
    served: list[int] = []
    monkeypatch.setattr("locking.local.taking.LocalLock._give_up", lambda lock, waiter: lock._withdraw(waiter))

    woken_and_cancelled(served)

    assert served == []
    local.keyed("a").release()


@pytest.mark.parametrize("bounded", ["wait_for", "timeout"])
def test_a_bounded_wait_leaves_nothing_held(bounded: str) -> None:
    """Time-outs of asyncio that meet the grant lose no lock."""

    async def wait() -> None:
        with contextlib.suppress(TimeoutError):
            if bounded == "wait_for":
                await asyncio.wait_for(hold(), 0.001)
            else:
                async with asyncio.timeout(0.001):
                    await hold()

    async def hold() -> None:
        async with local.keyed("a"):
            await asyncio.sleep(0.0005)

    async def main() -> None:
        for _ in range(30):
            await asyncio.gather(*(wait() for _ in range(5)))
            assert local.in_use() == 0

    asyncio.run(main())


def test_a_hundred_loops_one_after_another_work() -> None:
    """Nothing of a lock belongs to the loop in which it was first used."""
    served: list[int] = []

    async def main(number: int) -> None:
        async with local.keyed("a"):
            task = asyncio.create_task(enter("a", served, number))
            await until_waiting("a", 1)
        await task

    for number in range(100):
        asyncio.run(main(number))

    assert served == list(range(100))


def test_a_loop_that_is_closed_with_waiters_holds_nobody_up() -> None:
    """Waiters of a closed loop are passed over, a thread behind them enters, and their end takes nothing from it."""
    loop = quiet_loop()
    local.keyed("a").acquire(timeout=0)
    tasks = [loop.create_task(enter("a")) for _ in range(2)]
    loop.run_until_complete(until_waiting("a", 2))
    loop.close()
    with thread(lambda: local.keyed("a").acquire(timeout=SECONDS_MAX)):
        until(lambda: waiting("a") == 3)
        local.keyed("a").release()
    tasks.clear()
    gc.collect()

    assert not local.keyed("a").try_acquire()
    local.keyed("a").release()


def test_a_grant_that_a_closed_loop_never_heard_goes_on_when_its_task_is_collected() -> None:
    """The loop is closed between the grant and its hearing; the end of the task gives the lock back."""
    loop = quiet_loop()
    local.keyed("a").acquire(timeout=0)
    task = loop.create_task(enter("a"))
    loop.run_until_complete(until_waiting("a", 1))
    local.keyed("a").release()
    loop.close()

    del task
    gc.collect()

    assert local.in_use() == 0
