"""Ends claims in the background that a cancelled task, an interrupt or a lost answer has left behind."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Full, Queue

from locking import clock, forks
from locking.claims import Claim, Ending
from locking.exceptions import LockBackendError

#: More than that are left to the end of their leases.
CLAIMS_MAX = 10_000
PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class _Left:
    release: Callable[[Claim], Ending]
    claim: Claim
    until: float


class _Janitor:
    def __init__(self) -> None:
        self.begin_anew()
        forks.begin_anew(self)

    def begin_anew(self) -> None:
        """Begin with nothing to do and no thread."""
        self._lock = threading.Lock()
        self._left: Queue[_Left] = Queue(CLAIMS_MAX)
        self._thread: threading.Thread | None = None

    def take(self, left: _Left) -> None:
        with suppress(Full):
            self._left.put_nowait(left)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="locking-janitor", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            left = self._left.get()
            try:
                left.release(left.claim)
            except LockBackendError:
                time.sleep(PAUSE_SECONDS)
                if clock.now() < left.until:
                    with suppress(Full):
                        self._left.put_nowait(left)


def clean(release: Callable[[Claim], Ending], claim: Claim) -> None:
    """End the claim soon; try again while its server is away, until its lease would be over."""
    _janitor.take(_Left(release, claim, clock.now() + claim.ttl_seconds))


_janitor = _Janitor()
