"""What every backend keeps: exclusion, order, deadlines, fences, leases and their ends."""

import time
from datetime import timedelta

import pytest

from locking import LockLost, LockTimeout, LockUsageError, lock
from locking.claims import Ending
from tests.locking.elsewhere import acquired, in_thread, race, until, waiting


def test_one_holds_it_at_a_time(backend: str) -> None:
    """Eight threads, one inside; the same counter without the lock loses counts."""
    counter = [0]

    def count(number: int) -> None:
        for _ in range(10):
            with lock("counter", backend=backend):
                seen = counter[0]
                time.sleep(0.0005)
                counter[0] = seen + 1

    race(count, threads=8)

    assert counter == [80]


def test_without_the_lock_counts_are_lost() -> None:
    """The negative control of the test above."""
    counter = [0]

    def count(number: int) -> None:
        for _ in range(10):
            seen = counter[0]
            time.sleep(0.0005)
            counter[0] = seen + 1

    race(count, threads=8)

    assert counter[0] < 80


def test_fences_rise_with_every_grant(backend: str) -> None:
    """Also over releases, by which nothing is left on the server but the last fence."""
    fences = []
    for _ in range(21):
        with lock("fence", backend=backend) as lease:
            fences.append(lease.fence)

    assert fences == sorted(set(fences))


def test_who_does_not_wait_is_told_at_once(backend: str) -> None:
    """`try_acquire` gives None, `acquire(timeout=0)` raises, and neither leaves a waiter behind."""
    held = acquired(lock("try", backend=backend))

    assert lock("try", backend=backend).try_acquire() is None
    with pytest.raises(LockTimeout):
        lock("try", backend=backend).acquire(timeout=0)

    assert held.release() is Ending.RELEASED
    assert lock("try", backend=backend).try_acquire() is not None


def test_a_deadline_is_kept_exactly(backend: str) -> None:
    """L09: not earlier, and not later than a busy machine lets it be."""
    held = acquired(lock("deadline", backend=backend))
    began = time.monotonic()

    with pytest.raises(LockTimeout):
        lock("deadline", backend=backend).acquire(timeout=0.25)

    assert 0.25 <= time.monotonic() - began < 1.0
    held.release()


def test_a_lock_that_is_freed_just_before_the_deadline_is_got(backend: str) -> None:
    """L09: the release reaches who waits, and the last try is at the deadline."""
    held = acquired(lock("late", backend=backend))

    with waiting(lock("late", timeout=0.5, backend=backend)) as waiter:
        time.sleep(0.4)
        held.release()
        assert waiter.result(1).held


def test_first_come_first_served(backend: str) -> None:
    """Three threads get the lock in the order in which they came."""
    order: list[int] = []
    held = acquired(lock("order", backend=backend))

    def take(number: int) -> None:
        time.sleep(number * 0.1)
        with lock("order", backend=backend):
            order.append(number)

    def free(number: int) -> None:
        if number == 3:
            time.sleep(0.5)
            held.release()
        else:
            take(number)

    race(free, threads=4)

    assert order == [0, 1, 2]


def test_a_lease_that_nobody_renews_ends_and_is_told(backend: str) -> None:
    """L04, L12: the next one enters when it is over; the late holder is told by its own clock and by the release."""
    held = acquired(lock("short", ttl=0.3, renew=False, backend=backend))
    began = time.monotonic()

    lease = lock("short", backend=backend).acquire()

    assert time.monotonic() - began < 1.0
    assert not held.held
    assert held.lost == "expired"
    with pytest.raises(LockLost):
        held.ensure()
    assert held.release() is Ending.TAKEN
    assert lease.held
    lease.verify()
    assert lease.release() is Ending.RELEASED


def test_a_lease_is_renewed_until_its_release(backend: str) -> None:
    """The watchdog keeps it three times as long as it would last."""
    with lock("long", ttl=0.3, backend=backend) as lease:
        time.sleep(0.9)
        lease.verify()


def test_loss_is_told_once_by_callback(backend: str) -> None:
    """L03: an operator takes the lock away; the renewal finds out, the callback runs once, the block's end raises."""
    told: list[object] = []

    def work() -> None:
        with lock("taken", ttl=0.3, backend=backend) as lease:
            lease.on_lost(told.append)
            assert lease.backend.force_release(kind="lock", name="taken") == 1
            until(lambda: lease.lost is not None)

    with pytest.raises(LockLost):
        work()
    time.sleep(0.2)
    assert len(told) == 1


def test_the_error_of_the_block_is_what_its_caller_sees(backend: str) -> None:
    """L24: although the lease was lost, too."""

    def work() -> None:
        with lock("body", backend=backend) as lease:
            lease.backend.force_release(kind="lock", name="body")
            raise KeyError

    with pytest.raises(KeyError):
        work()


def test_a_release_may_be_repeated_and_be_in_another_thread(backend: str) -> None:
    """L06: it tells the same each time."""
    lease = lock("again", backend=backend).acquire()

    assert in_thread(lease.release) is Ending.RELEASED
    assert lease.release() is Ending.RELEASED
    with pytest.raises(LockUsageError):
        lease.ensure()


def test_an_extension_counts_from_now(backend: str) -> None:
    """By the lease's own ttl, or by another."""
    with lock("more", ttl=5, renew=False, backend=backend) as lease:
        lease.extend(timedelta(seconds=60))
        assert 58 < lease.valid_for < 60
        lease.verify()


def test_taking_one_name_twice_in_one_thread_is_refused(backend: str) -> None:
    """It would wait for itself; another name, or the same one afterwards, is fine."""
    with lock("one", backend=backend), lock("two", backend=backend), pytest.raises(LockUsageError):
        lock("one", backend=backend).acquire()
    with lock("one", backend=backend):
        pass


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), True, 0.0004, "1"])
def test_an_impossible_lease_is_refused(backend: str, ttl: float) -> None:
    """L14."""
    with pytest.raises(LockUsageError):
        lock("ttl", ttl=ttl, backend=backend)


@pytest.mark.parametrize("name", ["a{b}c", "}{", "%7B", "two words\nand lines", "锁" * 341, "x" * 1024])
def test_any_name_works(backend: str, name: str) -> None:
    """L16: and is shown to operators as it was given."""
    with lock(name, backend=backend) as lease:
        assert [one.name for one in lease.backend.holdings()] == [name]
