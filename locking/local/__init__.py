"""Locks of one process, for its threads and its asyncio tasks, which exclude each other. No server is asked.

    with local.keyed("img:7"): ...              async with local.keyed("img:7"): ...
    with local.striped(256).lock("img:7"): ...
    with local.rwlock().read(): ...             async with local.rwlock().write(): ...

Each also has `acquire(timeout=)`, `try_acquire()`, `release()`, `aacquire(timeout=)` and `atry_acquire()`.

- First come, first served, threads and tasks in one line. A release hands the lock to the first in line.
- A waiting task never blocks its event loop, whoever holds the lock: a thread, a task, or a task of another loop. It
  waits with `async with`; a plain `with` blocks the thread, and with it the loop.
- Nothing belongs to a thread: any thread or task may release. So whoever takes one lock twice waits for itself for
  ever, as with `threading.Lock`; a reader that reads again does so as soon as a writer waits between the two.
- `with` waits without limit, and may: the holder lives in this process, so it ends with the waiters, and no network
  stands between them. A holder that hangs is a bug that a time-out would hide; `acquire(timeout=)` is for the rest.
- A forked child begins with every lock free, for the threads that held them are not in it.
"""

from locking.local.keys import KeyedLock, in_use, keyed
from locking.local.readwrite import RWLock, rwlock
from locking.local.stripes import Stripes, striped
from locking.local.taking import LocalLock

__all__ = ["KeyedLock", "LocalLock", "RWLock", "Stripes", "in_use", "keyed", "rwlock", "striped"]
