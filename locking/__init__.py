"""Locks over django-redis, released by Lua. A library: it knows no product and no order."""

from locking.exceptions import LockTimeout, LockUnavailable
from locking.mutex import lock

__all__ = ["LockTimeout", "LockUnavailable", "lock"]
