"""What a forked child finds: every lock free."""

import os
import traceback
from collections.abc import Callable

import pytest

from locking import forks, local
from locking.exceptions import LockUsageError
from tests.locking.local.crowd import A_MOMENT_SECONDS, SECONDS_MAX, thread

# From Python 3.12 on, a fork beside threads warns; what happens to locks then is what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")


def in_child(job: Callable[[], None]) -> int:
    """Run `job` in a forked child, and return its exit code: 0 if it raised nothing."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        job()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def take_all(stripes: local.Stripes, rw: local.RWLock) -> None:
    """Take a key, a stripe and the writing side, within a moment."""
    local.keyed("a").acquire(timeout=A_MOMENT_SECONDS)
    stripes.lock("a").acquire(timeout=A_MOMENT_SECONDS)
    rw.write().acquire(timeout=A_MOMENT_SECONDS)


def held_by_a_thread(stripes: local.Stripes, rw: local.RWLock) -> int:
    """Let a thread that the child has not hold everything, and return how the child ends that takes it."""
    with thread(lambda: take_all(stripes, rw)):
        pass
    try:
        return in_child(lambda: take_all(stripes, rw))
    finally:
        for lock in (local.keyed("a"), stripes.lock("a"), rw.write()):
            lock.release()


def test_a_child_begins_with_every_lock_free() -> None:
    """What threads of the parent hold, the child can take, and the parent holds it still."""
    assert held_by_a_thread(local.striped(4), local.rwlock()) == 0


def test_a_child_that_does_not_begin_free_waits_for_threads_it_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: the child inherits the holds, and nobody to release them."""
    monkeypatch.setattr(forks, "_holders", set())

    assert held_by_a_thread(local.striped(4), local.rwlock()) == 1


def test_a_block_begun_before_the_fork_ends_in_the_child_too() -> None:
    """The child leaves the block as it would in the parent, and has released nothing by it."""
    key, writing = local.keyed("a"), local.rwlock().write()

    def leave() -> None:
        key.__exit__(None, None, None)
        writing.__exit__(None, None, None)

    with key, writing:
        assert in_child(leave) == 0


def test_a_child_is_told_of_a_release_of_what_it_does_not_hold() -> None:
    """Only blocks may end unheld in a child; a release is as strict there as anywhere."""

    def release() -> None:
        with pytest.raises(LockUsageError):
            local.keyed("a").release()

    local.keyed("a").acquire(timeout=SECONDS_MAX)
    assert in_child(release) == 0
    local.keyed("a").release()
