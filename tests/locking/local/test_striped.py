"""A fixed number of locks for any number of keys."""

import pytest

from locking import local
from locking.exceptions import LockUsageError
from tests.locking.elsewhere import race
from tests.locking.local.crowd import Room


def test_the_same_key_has_the_same_stripe() -> None:
    """Two that name one key exclude each other."""
    stripes = local.striped(256)

    with stripes.lock("a"):
        assert not stripes.lock("a").try_acquire()


def test_two_keys_of_one_stripe_exclude_each_other() -> None:
    """Where there is one stripe, every key has it."""
    stripes = local.striped(1)

    with stripes.lock("a"):
        assert not stripes.lock("b").try_acquire()


def test_stripes_are_used_evenly() -> None:
    """A thousand keys find all of 16 stripes, and no more."""
    stripes = local.striped(16)

    assert len({id(stripes.lock(f"key:{number}")) for number in range(1000)}) == len(stripes) == 16


def test_two_sets_of_stripes_have_nothing_in_common() -> None:
    """A key that is held in one is free in the other, and as a key of its own."""
    with local.striped(1).lock("a"):
        assert local.striped(1).lock("a").try_acquire()
        assert local.in_use() == 0


def test_never_two_threads_are_inside_one_stripe() -> None:
    """Four threads visit one room behind one key, each alone, each counted."""
    stripes, room = local.striped(4), Room()

    def visit(number: int) -> None:
        for _ in range(500):
            with stripes.lock("a"):
                room.visit()

    race(visit, threads=4)

    assert (room.most, room.visits) == (1, 2000)


@pytest.mark.parametrize("count", [0, -1, 65_537, True, 1.5])
def test_the_number_of_stripes_has_limits(count: int) -> None:
    """No stripes, too many, or no number at all: refused."""
    with pytest.raises(LockUsageError, match="between 1 and 65536"):
        local.striped(count)
