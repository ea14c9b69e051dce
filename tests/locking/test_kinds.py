"""What is made of the plain lock: several at once, readers and writers, permits, the decorator."""

import pytest

from locking import LockTimeout, LockUsageError, lock, multilock, rwlock, semaphore
from locking.claims import Ending
from tests.locking.elsewhere import acquired, race, waiting


def test_two_who_take_two_names_in_two_orders_do_not_block_each_other(backend: str) -> None:
    """L19."""

    def take(number: int) -> None:
        names = ["A", "B"] if number % 2 else ["B", "A"]
        for _ in range(10):
            with multilock(*names, backend=backend) as leases:
                assert [lease.name for lease in leases] == ["A", "B"]

    race(take, threads=4)


def test_a_multilock_that_fails_holds_nothing(backend: str) -> None:
    """L19: one of three names is held by another."""
    held = acquired(lock("B", backend=backend))

    with pytest.raises(LockTimeout), multilock("A", "B", "C", timeout=0.1, backend=backend):
        pass

    assert [one.name for one in held.backend.holdings()] == ["B"]
    held.release()


def test_readers_share_and_a_waiting_writer_is_not_passed(backend: str) -> None:
    """L17: later readers stand behind it."""
    catalog = rwlock("catalog", timeout=2, backend=backend)
    first, second = acquired(catalog.read()), acquired(catalog.read())

    with waiting(catalog.write()) as writer:
        assert catalog.read().try_acquire() is None
        first.release()
        assert not writer.done()
        second.release()
        lease = writer.result(2)

    assert catalog.read().try_acquire() is None
    lease.release()
    assert catalog.read().try_acquire() is not None


def test_the_permit_of_a_dead_holder_comes_back(backend: str) -> None:
    """L18: with the end of its lease; releasing it afterwards adds none."""
    permits = semaphore("smtp", limit=2, ttl=0.3, renew=False, backend=backend)
    dead = [acquired(permits) for _ in range(2)]
    assert permits.try_acquire() is None

    alive = [acquired(semaphore("smtp", limit=2, timeout=2, backend=backend)) for _ in range(2)]

    assert all(lease.release() is Ending.TAKEN for lease in dead)
    assert permits.try_acquire() is None
    assert all(lease.release() is Ending.RELEASED for lease in alive)


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_an_impossible_limit_is_refused(limit: int) -> None:
    """A semaphore has whole permits."""
    with pytest.raises(LockUsageError):
        semaphore("s", limit=limit)


def test_the_decorator_fills_the_name_from_the_arguments(backend: str) -> None:
    """And with `skip` a call that does not get the lock returns None."""

    @lock("report:{user_id}", timeout=0, skip=True, backend=backend)
    def report(user_id: int, *, year: int = 2026) -> str:
        return f"{user_id}/{year}"

    held = acquired(lock("report:7", backend=backend))

    assert report(7) is None
    assert report(8) == "8/2026"
    held.release()
    assert report(user_id=7) == "7/2026"
