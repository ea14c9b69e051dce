"""Who takes a lock: a thread, and in it a task. Nested taking of one name by one of them would wait for itself."""

import asyncio
import threading
import weakref
from typing import TYPE_CHECKING

from locking.claims import Kind
from locking.exceptions import LockUsageError

if TYPE_CHECKING:
    from locking.lease import Lease

Context = tuple[threading.Thread, asyncio.Task[object] | None]
Place = tuple[Context, str, Kind, str]

#: Which lease each context has of a name. Weakly: a lease that nobody has any more ends by itself.
_leases: "weakref.WeakValueDictionary[Place, Lease]" = weakref.WeakValueDictionary()


def current() -> Context:
    """Return the running thread, and the running task if there is one."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return threading.current_thread(), task


def place(alias: str, kind: Kind, name: str) -> Place:
    """Return where this context keeps its lease of a name; raise LockUsageError if it has one."""
    here = (current(), alias, kind, name)
    if here in _leases:
        raise LockUsageError(f"{kind} {name!r} is held by this very thread or task, and cannot be taken twice")
    return here


def keep(here: Place, lease: "Lease") -> None:
    """Remember the lease until it ends."""
    _leases[here] = lease


def drop(here: Place) -> None:
    """Forget the lease."""
    _leases.pop(here, None)
