"""Tasks: the same locks from asyncio, and what a cancelled one leaves behind."""

import asyncio

from locking import Lease, LockTimeout, lock
from tests.locking.elsewhere import acquired, until


def test_tasks_of_one_loop_take_their_turns(backend: str) -> None:
    """L05: each releases its own lease, in the order of coming."""
    order: list[int] = []

    async def take(number: int) -> None:
        async with lock("turns", backend=backend) as lease:
            order.append(number)
            await asyncio.sleep(0.001)
            lease.verify()

    async def main() -> None:
        await asyncio.gather(*[take(number) for number in range(20)])

    asyncio.run(main())

    assert order == list(range(20))


def test_a_task_keeps_its_deadline_and_the_loop_goes_on(backend: str) -> None:
    """A waiting task blocks nobody."""
    held = acquired(lock("busy", backend=backend))

    async def main() -> int:
        ticks = 0
        waiter = asyncio.create_task(lock("busy", backend=backend).atry_acquire(timeout=0.3))
        while not waiter.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert waiter.result() is None
        return ticks

    assert asyncio.run(main()) >= 5
    held.release()


def test_a_cancelled_task_leaves_nothing_behind(backend: str) -> None:
    """L08: cancelled at a hundred moments, before, during and after its question."""
    free = lock("cancelled", backend=backend)

    async def main() -> None:
        for moment in range(100):
            task = asyncio.create_task(free.aacquire())
            await asyncio.sleep(moment / 50_000)
            task.cancel()
            [done] = await asyncio.gather(task, return_exceptions=True)
            if isinstance(done, Lease):
                done.release()

    asyncio.run(main())

    until(lambda: not list(free.backend.holdings()))


def test_a_cancelled_waiter_does_not_hold_up_the_next(backend: str) -> None:
    """L21: who stood first is gone; the release reaches the one behind."""
    held = acquired(lock("gone", backend=backend))

    async def main() -> None:
        first, second = (asyncio.create_task(lock("gone", timeout=5, backend=backend).aacquire()) for _ in range(2))
        await asyncio.sleep(0.1)
        first.cancel()
        held.release()
        lease = await second
        assert lease.held
        lease.release()

    asyncio.run(main())


def test_a_hundred_event_loops_one_after_another(backend: str) -> None:
    """L21: nothing is bound to the first one."""

    async def take() -> None:
        async with lock("loops", backend=backend):
            pass

    for _ in range(100):
        asyncio.run(take())


def test_a_wait_that_its_caller_bounds_leaves_the_line(backend: str) -> None:
    """`asyncio.timeout` cancels; the next one gets the lock."""
    held = acquired(lock("bounded", backend=backend))

    async def main() -> None:
        try:
            async with asyncio.timeout(0.1):
                await lock("bounded", backend=backend).aacquire()
        except (TimeoutError, LockTimeout):
            held.release()
        lease = await lock("bounded", timeout=2, backend=backend).aacquire()
        lease.release()

    asyncio.run(main())
