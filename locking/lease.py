"""A lease: one holding of one lock, from its grant to its end."""

import os
import threading
from collections.abc import Callable
from dataclasses import replace

from locking import clock, contexts, durations, releasing
from locking.acquiring import Grant
from locking.backends.base import Backend
from locking.claims import Claim, Ending, Standing
from locking.durations import Duration
from locking.exceptions import LockBackendError, LockLost, LockUsageError, LossReason
from locking.renewal import watchdog

#: Clocks of two machines run at different speed, and a server counts whole milliseconds.
DRIFT_SHARE = 0.01
DRIFT_SECONDS = 0.002


class Lease:
    """One holding of one lock. Any thread or task may use it and release it; a forked child may not.

    `fence` rises with every grant of the name. `valid_for` is in seconds, by this machine's own clock.
    """

    def __init__(self, backend: Backend, claim: Claim, grant: Grant, *, place: contexts.Place) -> None:
        """Begin; the validity counts from before the question was sent."""
        self._backend = backend
        self._claim = claim
        self._place = place
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[Lease], None]] = []
        self._loss: LossReason | None = None
        self._ending: Ending | None = None
        self.taken_at = clock.now()
        self.fence = grant.fence
        self._valid_until = 0.0
        self._is_unanswered = False
        self.confirm(grant.sent_at)
        contexts.keep(place, self)

    def __repr__(self) -> str:
        """Say what it holds; the token stays out of logs."""
        state = "released" if self._ending else f"lost: {self._loss}" if self._loss else f"{self.valid_for:.3f} s"
        return f"<Lease of {self._claim.kind} {self.name!r}, fence {self.fence}, {state}>"

    @property
    def name(self) -> str:
        """Return the name of the lock."""
        return self._claim.name

    @property
    def token(self) -> str:
        """Return the secret that this holding is known by to the server."""
        return self._claim.token

    @property
    def backend(self) -> Backend:
        """Return what granted it."""
        return self._backend

    @property
    def claim(self) -> Claim:
        """Return what was granted."""
        return self._claim

    @property
    def valid_until(self) -> float:
        """Return the reading of `locking.clock` at which the lease ends if it is not renewed."""
        return self._valid_until

    @property
    def valid_for(self) -> float:
        """Return the seconds that are certainly left; 0.0 when the lease has ended."""
        return max(0.0, self._valid_until - clock.now()) if self._is_open() else 0.0

    @property
    def held(self) -> bool:
        """Tell whether the lease is certainly still held."""
        return self.valid_for > 0

    @property
    def lost(self) -> LossReason | None:
        """Return why the lease ended before its release; None if it did not."""
        if self._loss is None and self._ending is None and clock.now() >= self._valid_until:
            self.lose("unreachable" if self._is_unanswered else "expired")
        return self._loss

    @property
    def released(self) -> Ending | None:
        """Return what the release found; None before it."""
        return self._ending

    def ensure(self) -> None:
        """Raise LockLost unless the lease is held by this machine's clock; asks nobody."""
        self._check_process()
        if (reason := self.lost) is not None:
            raise LockLost(f"the lease of {self.name!r} was lost: {reason}", reason=reason)
        if self._ending is not None:
            raise LockUsageError(f"the lease of {self.name!r} was released before")

    def verify(self) -> None:
        """Raise LockLost unless the server says so, too, and LockBackendError if it cannot be asked."""
        self.ensure()
        self._heed(self._backend.look(self._claim))
        self.ensure()

    def extend(self, ttl: Duration | None = None) -> None:
        """Let the lease last for its ttl, or another, from now on; raise LockLost or LockBackendError."""
        self.ensure()
        if ttl is not None:
            self._claim = replace(self._claim, ttl_seconds=durations.ttl(ttl))
        sent_at = clock.now()
        [standing] = self._backend.renew([self._claim])
        if standing is Standing.HELD:
            self.confirm(sent_at)
        self._heed(standing)
        self.ensure()

    def on_lost(self, callback: Callable[["Lease"], None]) -> None:
        """Call back once, from another thread, when the lease is lost; at once if it is."""
        with self._lock:
            if self._loss is None:
                self._callbacks.append(callback)
        if self._loss is not None:
            callback(self)
        elif self._ending is None:
            watchdog().watch(self)

    def release(self) -> Ending:
        """End the lease, and tell what was found; repeated, it tells the same. Raises nothing but LockUsageError."""
        self._check_process()
        with self._lock:
            if self._ending is not None:
                return self._ending
            self._ending = Ending.UNKNOWN
        contexts.drop(self._place)
        watchdog().drop(self)
        self._ending = self._release()
        if self._ending is Ending.TAKEN:
            self._loss = self._loss or "taken"
        elif self._ending is Ending.EXPIRED:
            self._loss = self._loss or "expired"
        releasing.warn_in_open_transaction(self._claim)  # Last: where warnings are errors, it is released all the same.
        return self._ending

    def _release(self) -> Ending:
        was_valid = clock.now() < self._valid_until and self._loss is None
        try:
            ending = self._backend.release(self._claim)
        except LockBackendError:
            self._backend.abandon(self._claim)
            return Ending.UNKNOWN
        # The first of two tries may have been carried out and its answer lost: by its own clock it was held until now.
        return Ending.RELEASED if was_valid and ending is Ending.EXPIRED else ending

    def confirm(self, sent_at: float) -> None:
        """Count the lease from the clock before a question that the server has answered with yes."""
        ttl_seconds = self._claim.ttl_seconds
        self._is_unanswered = False
        self._valid_until = sent_at + ttl_seconds * (1 - DRIFT_SHARE) - DRIFT_SECONDS

    def miss(self) -> None:
        """Take notice that a renewal was not answered."""
        self._is_unanswered = True

    def lose(self, reason: LossReason) -> None:
        """Take notice that the lease is lost, and call back, once."""
        with self._lock:
            if self._loss is not None or self._ending is not None:
                return
            self._loss = reason
            callbacks, self._callbacks = self._callbacks, []
        contexts.drop(self._place)
        for callback in callbacks:
            threading.Thread(target=callback, args=(self,), name="locking-lost", daemon=True).start()

    def is_mine(self) -> bool:
        """Tell whether this process took the lease, and not its parent."""
        return self._pid == os.getpid()

    def _is_open(self) -> bool:
        return self._ending is None and self._loss is None

    def _heed(self, standing: Standing) -> None:
        if standing is Standing.EXPIRED:
            self.lose("expired")
        elif standing is Standing.TAKEN:
            self.lose("taken")

    def _check_process(self) -> None:
        if not self.is_mine():
            raise LockUsageError(f"the lease of {self.name!r} is that of the parent process")
