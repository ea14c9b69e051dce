"""What only a lock on a server has: scripts it may forget, commands it counts, processes that die or fork."""

import os
import time
from multiprocessing.synchronize import Event
from typing import Any

import pytest
from django.db import transaction
from django_redis import get_redis_connection
from pytest_django import Settings

from locking import LockBackendError, LockUsageError, LockWarning, lock
from locking.lines import ThreadMailbox
from tests.locking.conftest import LOCKING
from tests.locking.elsewhere import acquired, in_thread, waiting
from tests.races import crowd


@pytest.fixture(autouse=True)
def _on_the_server(settings: Settings) -> None:
    """Take locks on the server."""
    settings.LOCKING = LOCKING


def test_a_server_that_forgets_its_scripts_is_told_again() -> None:
    """L15: SCRIPT FLUSH before every call."""
    client = get_redis_connection("locks")

    client.script_flush()
    lease = lock("flushed").acquire()
    client.script_flush()
    lease.extend()
    client.script_flush()
    lease.release()

    assert lock("flushed").try_acquire() is not None


def test_all_keys_of_a_lock_have_one_slot() -> None:
    """L16: whatever its name."""
    keys = lock("x").backend.keys.of("lock", "a}b{c 锁")  # type: ignore[attr-defined]  # of this backend

    tags = {key[key.index("{") + 1 : key.index("}")] for key in keys}

    assert len(tags) == 1
    assert tags != {""}


def test_a_released_lock_leaves_a_fence_that_is_soon_forgotten() -> None:
    """No key lives for ever."""
    with lock("keys"):
        pass

    client = get_redis_connection("locks")
    left = {key.decode(): client.pttl(key) for key in client.scan_iter("locks:lock:*")}

    assert list(left) == ["locks:lock:lock:{keys}:fence"]
    assert 0 < left["locks:lock:lock:{keys}:fence"] <= 2000


def test_waiting_asks_nothing() -> None:
    """In half a second of waiting the server gets no command for it."""
    held = acquired(lock("still"))
    client = get_redis_connection("locks")

    with waiting(lock("still")) as waiter:
        before = client.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)
        time.sleep(0.5)
        after = client.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)
        held.release()
        waiter.result(5).release()

    assert after == before


def hold_for_ever(held: Event) -> None:
    """Take the lock, and never come back."""
    with lock("dead", ttl=1.5):
        held.set()
        time.sleep(60)


@pytest.mark.django_db(transaction=True)
def test_a_killed_holder_costs_no_more_than_its_lease() -> None:
    """L12: kill -9."""
    held = crowd.CONTEXT.Event()
    with crowd.one(hold_for_ever, held):
        assert held.wait(20)

    assert in_thread(lambda: lock("dead", timeout=5).acquire()).held


def test_a_forked_child_leaves_the_lease_of_its_parent_alone() -> None:
    """It cannot use it, and the end of its block releases nothing."""
    with lock("fork") as lease:
        child = os.fork()
        if child == 0:
            try:
                lease.release()
            except LockUsageError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        lease.verify()


def test_a_forked_child_does_not_stand_behind_waiters_of_its_parent() -> None:
    """They are threads that it has not; nobody would ever leave the line for them."""
    held = acquired(lock("line", ttl=30))

    with waiting(lock("line", timeout=5)) as waiter:
        child = os.fork()
        if child == 0:
            key = ("lock", "line")
            lines, mailbox = lock("line").backend.lines, ThreadMailbox()
            lines.join(key, mailbox)
            os._exit(7 if lines.is_first(key, mailbox) else 0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        held.release()
        waiter.result(5).release()


def test_a_server_that_is_away_is_an_error_and_no_lock(settings: Settings, tmp_path: Any) -> None:
    """Never "assume acquired"; within the backend's patience."""
    locks = settings.CACHES["locks"] | {"LOCATION": f"unix://{tmp_path}/nobody.sock"}
    settings.CACHES = settings.CACHES | {"locks": locks}
    began = time.monotonic()

    with pytest.raises(LockBackendError):
        lock("away").acquire(timeout=30)

    assert time.monotonic() - began < 5


@pytest.mark.django_db(transaction=True)
def test_a_release_on_commit_waits_for_the_transaction() -> None:
    """Also for its rollback."""
    for ends_well in (True, False):
        with transaction.atomic():
            with lock("commit", release="on_commit"):
                pass
            assert in_thread(lambda: lock("commit").try_acquire()) is None
            transaction.set_rollback(not ends_well)
        lease = in_thread(lambda: lock("commit").acquire(timeout=2))
        lease.release()


@pytest.mark.django_db(transaction=True)
def test_a_release_inside_an_open_transaction_warns() -> None:
    """The next holder would not see what was written."""
    with transaction.atomic():
        lease = lock("early").acquire()
        with pytest.warns(LockWarning, match="open transaction"):
            lease.release()


@pytest.mark.django_db(transaction=True)
def test_a_warning_that_is_an_error_leaves_no_lock_behind() -> None:
    """The suite makes errors of warnings, and so do others."""
    with transaction.atomic():
        lease = lock("strict").acquire()
        with pytest.raises(LockWarning):
            lease.release()

    assert lock("strict").try_acquire() is not None
