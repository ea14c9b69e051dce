"""Many readers or one writer, first come, first served."""

import asyncio
import gc
import threading

import pytest

from locking import local
from locking.exceptions import LockTimeout, LockUsageError
from tests.locking.elsewhere import race, until
from tests.locking.local.crowd import A_MOMENT_SECONDS, SECONDS_MAX, Room, quiet_loop, thread


def test_readers_read_together() -> None:
    """Five readers meet inside."""
    rw, meeting = local.rwlock(), threading.Barrier(5)

    def read(number: int) -> None:
        with rw.read():
            meeting.wait(SECONDS_MAX)

    race(read, threads=5)


def test_a_writer_is_alone() -> None:
    """While one writes, nobody reads and nobody else writes."""
    rw = local.rwlock()

    with rw.write():
        assert not rw.read().try_acquire()
        assert not rw.write().try_acquire()


def test_a_reader_keeps_writers_out() -> None:
    """While one reads, nobody writes."""
    rw = local.rwlock()

    with rw.read():
        assert not rw.write().try_acquire()


def test_writers_and_readers_of_threads_and_loops_exclude_each_other() -> None:
    """Writers of threads and of loops are alone and counted; readers among them never see one inside."""
    rw, room, seen = local.rwlock(), Room(), set[int]()

    async def visit() -> None:
        for _ in range(100):
            async with rw.write():
                room.visit()
            async with rw.read():
                seen.add(room.inside)

    def work(number: int) -> None:
        if number % 2:
            asyncio.run(visit())
            return
        for _ in range(100):
            with rw.write():
                room.visit()
            with rw.read():
                seen.add(room.inside)

    race(work, threads=6)

    assert (room.most, room.visits, seen) == (1, 600, {0})


def test_a_waiting_writer_holds_back_later_readers() -> None:
    """A reader that comes after a waiting writer enters after it."""
    rw = local.rwlock()
    served: list[str] = []

    def enter(side: local.LocalLock, name: str) -> None:
        with side:
            served.append(name)

    rw.read().acquire(timeout=0)
    with thread(lambda: enter(rw.write(), "writer")):
        until(lambda: len(rw._line) == 1)
        assert not rw.read().try_acquire()
        with thread(lambda: enter(rw.read(), "reader")):
            until(lambda: len(rw._line) == 2)
            rw.read().release()

    assert served == ["writer", "reader"]


def test_readers_that_do_not_stand_in_line_starve_the_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: where a reader may pass the line, the writer does not enter as long as readers relieve each other."""
    rw = local.rwlock()
    monkeypatch.setattr(local.RWLock, "take", passing_the_line)
    rw.read().acquire(timeout=0)

    def write() -> None:
        with pytest.raises(LockTimeout):
            rw.write().acquire(timeout=A_MOMENT_SECONDS)

    with thread(write):
        until(lambda: len(rw._line) == 1)
        while rw._line:
            rw.read().acquire(timeout=0)
            rw.read().release()
    rw.read().release()


def passing_the_line(rw: local.RWLock, *, exclusive: bool) -> bool:
    """Let one in if there is room, whoever waits."""
    with rw._guard:
        if not rw._has_room(exclusive=exclusive):
            return False
        rw._let_in(exclusive=exclusive)
        return True


def test_a_writer_that_gives_up_lets_the_readers_behind_it_in() -> None:
    """Readers held back by a writer enter when its wait ends, though the first reader is still inside."""
    rw = local.rwlock()

    async def main() -> None:
        writer = asyncio.create_task(rw.write().aacquire(timeout=SECONDS_MAX))
        readers = [asyncio.create_task(rw.read().aacquire(timeout=SECONDS_MAX)) for _ in range(2)]
        await asyncio.sleep(0)
        assert len(rw._line) == 3
        writer.cancel()
        await asyncio.gather(*readers)

    with rw.read():
        asyncio.run(main())
    rw.read().release()
    rw.read().release()

    assert rw.write().try_acquire()


def test_a_woken_writer_that_is_cancelled_lets_the_next_in() -> None:
    """The writing side that was granted to a task which never runs again goes on to the next."""
    rw = local.rwlock()

    async def main() -> None:
        await rw.write().aacquire(timeout=0)
        first, second = (asyncio.create_task(rw.write().aacquire(timeout=SECONDS_MAX)) for _ in range(2))
        await asyncio.sleep(0)
        rw.write().release()
        first.cancel()
        await asyncio.wait_for(second, SECONDS_MAX)

    asyncio.run(main())
    rw.write().release()

    assert rw.write().try_acquire()


def test_a_loop_that_is_closed_with_waiters_holds_nobody_up() -> None:
    """A writer of a closed loop is passed over, and its end takes nothing from the one that is inside."""
    rw, loop = local.rwlock(), quiet_loop()
    rw.read().acquire(timeout=0)
    task = loop.create_task(rw.write().aacquire(timeout=SECONDS_MAX))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()

    rw.read().release()
    rw.write().acquire(timeout=0)
    del task
    gc.collect()

    assert not rw.write().try_acquire()


def test_a_reader_waits_no_longer_than_it_said() -> None:
    """A reader is told after its time-out, and leaves the line."""
    rw = local.rwlock()

    with rw.write(), pytest.raises(LockTimeout, match="read lock"):
        rw.read().acquire(timeout=A_MOMENT_SECONDS)

    assert rw.write().try_acquire()


def test_any_thread_may_release_a_side() -> None:
    """What one thread has acquired, another releases."""
    rw = local.rwlock()
    rw.write().acquire(timeout=0)

    with thread(lambda: rw.write().release()):
        pass

    assert rw.read().try_acquire()


def test_releasing_a_side_that_is_not_held_is_a_usage_error() -> None:
    """Neither side can be released by who holds the other, or nothing."""
    rw = local.rwlock()

    with rw.write(), pytest.raises(LockUsageError, match="read lock is not held"):
        rw.read().release()
    with rw.read(), pytest.raises(LockUsageError, match="write lock is not held"):
        rw.write().release()
    with pytest.raises(LockUsageError):
        rw.read().release()
