"""Admission: how a command comes to placing, by the setting of its products."""

import time

from django.conf import settings

from inventory import admissions
from inventory.models import Admission
from locking import LockBackendError, LockLost, LockTimeout, multilock
from orders import group_commit, placing
from orders.command import PlaceOrder
from orders.exceptions import Busy
from orders.outcomes import Outcome, Refused

LOCK_WAIT_SECONDS = 3.0
#: Longer than one placing takes, shorter than a buyer's patience with a dead holder.
LOCK_TTL_SECONDS = 5.0


def admit(command: PlaceOrder) -> Outcome:
    """Bring a command to placing the way of its products; where they differ, `lock` is the stricter way."""
    if any(admissions.of(line.sku) == Admission.LOCK for line in command.lines):
        return _under_lock(command)
    return group_commit.submit(command)


def _under_lock(command: PlaceOrder) -> Outcome:
    """Place one order at a time per product, in all processes.

    The lock only shapes the traffic: without its server the order is placed all the same.
    """
    deadline = time.monotonic() + settings.PLACING_DEADLINE_SECONDS
    names = [f"product:{line.sku}" for line in command.lines]
    outcome: Outcome | None = None
    try:
        with multilock(*names, timeout=LOCK_WAIT_SECONDS, ttl=LOCK_TTL_SECONDS):
            outcome = _place(command, deadline)
    except LockTimeout:
        return Refused(Busy())
    except (LockBackendError, LockLost):
        # Not taken, or lost while the order was placed: the books decide under their row lock, with it and without it.
        pass
    return _place(command, deadline) if outcome is None else outcome


def _place(command: PlaceOrder, deadline: float) -> Outcome:
    [outcome] = placing.place([command], deadline=deadline)
    return outcome
