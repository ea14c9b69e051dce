"""Threads and the locks of keys."""

import contextlib
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from locking import local
from locking.exceptions import LockTimeout, LockUsageError
from tests.locking.elsewhere import race, until
from tests.locking.local.crowd import A_MOMENT_SECONDS, SECONDS_MAX, Room, thread, waiting

ROUNDS = 10_000


@pytest.fixture
def _switching() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def visits(*, lock: Callable[[str], contextlib.AbstractContextManager[None]]) -> dict[str, Room]:
    """Let 8 threads visit 3 rooms, 10,000 times each, behind the lock of the room."""
    rooms = {f"room:{number}": Room() for number in range(3)}

    def visit(number: int) -> None:
        for turn in range(ROUNDS):
            key = f"room:{(number + turn) % 3}"
            with lock(key):
                rooms[key].visit()

    race(visit, threads=8)
    return rooms


@pytest.mark.usefixtures("_switching")
def test_never_two_threads_are_inside_one_key() -> None:
    """Eighty thousand visits, each alone, each counted; afterwards the table is empty."""
    rooms = visits(lock=local.keyed)

    assert [room.most for room in rooms.values()] == [1, 1, 1]
    assert sum(room.visits for room in rooms.values()) == 8 * ROUNDS
    assert local.in_use() == 0


@pytest.mark.usefixtures("_switching")
def test_without_the_lock_two_threads_are_inside() -> None:
    """The twin: the same visits without a lock meet each other, and lose counts."""
    rooms = visits(lock=lambda _: contextlib.nullcontext())

    assert max(room.most for room in rooms.values()) > 1
    assert sum(room.visits for room in rooms.values()) < 8 * ROUNDS


@pytest.mark.usefixtures("_switching")
def test_threads_that_meet_on_a_new_key_get_the_same_lock() -> None:
    """Of 8 threads that take a key nobody has named before, one gets it; 500 times."""
    for turn in range(500):
        won = winners(key=f"new:{turn}")
        local.keyed(f"new:{turn}").release()

        assert len(won) == 1


def winners(*, key: str) -> list[int]:
    """Let 8 threads try to take the key at one moment, and return those that have."""
    won: list[int] = []

    def take(number: int) -> None:
        if local.keyed(key).try_acquire():
            won.append(number)

    race(take, threads=8)
    return won


def test_keys_do_not_exclude_each_other() -> None:
    """Another key is free while one is held."""
    with local.keyed("a"):
        assert local.keyed("b").try_acquire()

        local.keyed("b").release()


def test_a_held_key_stays_held_though_nobody_keeps_its_object() -> None:
    """The object that was taken is gone in the block, and the key is not free."""
    with local.keyed("a"):
        assert local.in_use() == 1
        assert not local.keyed("a").try_acquire()


def test_a_million_keys_take_no_memory() -> None:
    """A million different keys, each used once, leave nothing."""
    tracemalloc.start()
    try:
        for number in range(1_000_000):
            with local.keyed(f"once:{number}"):
                pass
        left = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()

    # Threads that other tests have left behind allocate meanwhile, too.
    ours = left.filter_traces(
        [tracemalloc.Filter(True, path) for path in (__file__, f"{Path(local.__file__).parent}/*")]
    )
    assert sum(trace.size for trace in ours.traces) < 100_000


def test_any_thread_may_release() -> None:
    """What one thread has acquired, another releases."""
    local.keyed("a").acquire(timeout=0)

    with thread(lambda: local.keyed("a").release()):
        pass

    assert local.keyed("a").try_acquire()
    local.keyed("a").release()


def test_releasing_what_is_not_held_is_a_usage_error() -> None:
    """The second release finds nothing to release."""
    lock = local.keyed("a")
    lock.acquire(timeout=0)
    lock.release()

    with pytest.raises(LockUsageError, match="'a' is not held"):
        lock.release()


def test_releasing_inside_the_block_is_a_usage_error_at_its_end() -> None:
    """The block finds that it no longer holds the lock."""
    with pytest.raises(LockUsageError, match="inside its own block"), local.keyed("a"):
        local.keyed("a").release()


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1, True, None])
def test_the_wait_is_finite(seconds: float) -> None:
    """A wait without an end is refused, also for a free lock, and nothing is held."""
    with pytest.raises(LockUsageError):
        local.keyed("a").acquire(timeout=seconds)


def test_a_key_is_text() -> None:
    """A key that is no text is refused before it is looked for."""
    with pytest.raises(LockUsageError, match="text, not int"):
        local.keyed(7)  # type: ignore[arg-type]


def test_a_wait_that_ends_leaves_the_line() -> None:
    """Whoever waited in vain is told after the time-out, not before, and waits no more."""
    with local.keyed("a"):
        began_at = time.monotonic()
        with pytest.raises(LockTimeout, match="'a'"):
            local.keyed("a").acquire(timeout=A_MOMENT_SECONDS)

        assert time.monotonic() - began_at >= A_MOMENT_SECONDS
        assert waiting("a") == 0


def test_the_time_outs_and_releases_that_cross_lose_no_lock() -> None:
    """Waits as short as the holds end at the moment of the grant, again and again; the lock is free afterwards."""
    room = Room()

    def work(number: int) -> None:
        for _ in range(300):
            with contextlib.suppress(LockTimeout):
                local.keyed("a").acquire(timeout=0.0005)
                room.visit(0.0005)
                local.keyed("a").release()

    race(work, threads=4)

    assert room.most == 1
    assert local.in_use() == 0


def test_the_first_to_come_is_the_first_served() -> None:
    """Threads get the lock in the order in which they began to wait."""
    served: list[int] = []

    def wait(number: int) -> None:
        until(lambda: waiting("a") == number)
        with local.keyed("a"):
            served.append(number)

    local.keyed("a").acquire(timeout=0)
    with thread(lambda: race(wait, threads=5)):
        until(lambda: waiting("a") == 5)
        local.keyed("a").release()

    assert served == [0, 1, 2, 3, 4]


def test_an_error_in_the_block_releases_and_is_not_replaced() -> None:
    """The body's own error comes out, and the key is free."""
    with pytest.raises(ZeroDivisionError), local.keyed("a"):
        raise ZeroDivisionError


def test_an_interrupted_wait_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that ends the wait after the grant gives the lock to the next."""

    def sleep(waiter: object, seconds: float | None) -> None:
        local.keyed("a").release()  # The grant comes first, and then the signal.
        raise KeyboardInterrupt

    monkeypatch.setattr("locking.local.waiters.ThreadWaiter.sleep", sleep)
    local.keyed("a").acquire(timeout=0)

    with pytest.raises(KeyboardInterrupt):
        local.keyed("a").acquire(timeout=SECONDS_MAX)

    assert local.keyed("a").try_acquire()
    local.keyed("a").release()


def test_nested_taking_waits_for_itself() -> None:
    """The lock is no more reentrant than threading.Lock: who holds the key cannot take it."""
    with local.keyed("a"), pytest.raises(LockTimeout):
        local.keyed("a").acquire(timeout=0)


def test_a_waiting_thread_is_woken_at_the_release() -> None:
    """A thread waits in a plain `with`, and goes on when another releases."""
    entered = threading.Event()

    def enter() -> None:
        with local.keyed("a"):
            entered.set()

    with local.keyed("a"):
        ended = thread(enter)
        ended.__enter__()
        until(lambda: waiting("a") == 1)
        assert not entered.is_set()
    ended.__exit__(None, None, None)

    assert entered.is_set()
