"""Locks with leases and fences over django-redis. A library: it knows no product and no order."""

from locking.describing import RWLock, lock, rwlock, semaphore
from locking.exceptions import (
    LockBackendError,
    LockError,
    LockLost,
    LockTimeout,
    LockUsageError,
    LockWarning,
    StaleFence,
)
from locking.lease import Lease
from locking.locks import Lock
from locking.multi import MultiLock, multilock

__all__ = [
    "Lease",
    "Lock",
    "LockBackendError",
    "LockError",
    "LockLost",
    "LockTimeout",
    "LockUsageError",
    "LockWarning",
    "MultiLock",
    "RWLock",
    "StaleFence",
    "lock",
    "multilock",
    "rwlock",
    "semaphore",
]
