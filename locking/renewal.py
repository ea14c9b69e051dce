"""The watchdog: one thread per process that renews all leases in batches, and tells those that it could not renew."""

import threading
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from locking import clock, forks
from locking.claims import Standing
from locking.exceptions import LockBackendError

if TYPE_CHECKING:
    from locking.lease import Lease

#: A lease is renewed when a third of it is over...
RENEW_SHARE = 1 / 3
#: ...together with those that are due within another sixth: one command instead of many.
TOGETHER_SHARE = 1 / 6
#: After a failure it is tried again this often per lease, until the lease's own end.
RETRY_SHARE = 1 / 12
PAUSE_SECONDS_MIN = 0.005
IDLE_SECONDS = 3600.0


class _Entry:
    """What the watchdog knows of one lease. It does not keep it alive: a lease nobody has any more ends by itself."""

    __slots__ = ("due_at", "ends_at", "lease")

    def __init__(self, lease: "Lease", *, due_at: float, ends_at: float) -> None:
        self.lease = weakref.ref(lease)
        self.due_at = due_at
        self.ends_at = ends_at


class Watchdog:
    """Renews leases until they are released, lost, or as old as they may become."""

    def __init__(self) -> None:
        """Begin without a thread; the first lease starts it."""
        self.begin_anew()
        forks.begin_anew(self)

    def begin_anew(self) -> None:
        """Begin with no lease and no thread."""
        self._lock = threading.Lock()
        self._entries: dict[int, _Entry] = {}
        self._watched: dict[int, weakref.ref[Lease]] = {}
        self._renewing = _Alarm("locking-watchdog", self._renew_due)
        self._telling = _Alarm("locking-alarm", self._tell_ended)

    def renew(self, lease: "Lease", *, max_hold_seconds: float) -> None:
        """Renew this lease from now on, until it has been held for so long."""
        due_at = clock.now() + lease.claim.ttl_seconds * RENEW_SHARE
        with self._lock:
            self._entries[id(lease)] = _Entry(lease, due_at=due_at, ends_at=lease.taken_at + max_hold_seconds)
        self._renewing.not_later_than(due_at)

    def watch(self, lease: "Lease") -> None:
        """Tell this lease when its time has passed, also while the server does not answer."""
        with self._lock:
            self._watched[id(lease)] = weakref.ref(lease)
        self._telling.not_later_than(lease.valid_until)

    def drop(self, lease: "Lease") -> None:
        """Renew and watch this lease no more."""
        self._entries.pop(id(lease), None)
        self._watched.pop(id(lease), None)

    def _renew_due(self) -> float:
        """Renew what is due and what soon will be; return when to come again."""
        now = clock.now()
        batches: dict[int, list[tuple[_Entry, Lease]]] = defaultdict(list)
        with self._lock:
            for key, entry in list(self._entries.items()):
                lease = entry.lease()
                if lease is None or not lease.held or entry.ends_at <= now:
                    del self._entries[key]
                elif entry.due_at <= now + lease.claim.ttl_seconds * TOGETHER_SHARE:
                    batches[id(lease.backend)].append((entry, lease))
        if any(entry.due_at <= now for batch in batches.values() for entry, _ in batch):
            for batch in batches.values():
                size = batch[0][1].backend.renew_max
                for start in range(0, len(batch), size):
                    _renew(batch[start : start + size])
        with self._lock:
            return min((entry.due_at for entry in self._entries.values()), default=clock.now() + IDLE_SECONDS)

    def _tell_ended(self) -> float:
        with self._lock:
            leases = {key: reference() for key, reference in self._watched.items()}
            for key, lease in leases.items():
                if lease is None or lease.released is not None or lease.lost is not None:
                    del self._watched[key]
            ends = [lease.valid_until for key, lease in leases.items() if lease and key in self._watched]
        return min(ends, default=clock.now() + IDLE_SECONDS)


def _renew(batch: "list[tuple[_Entry, Lease]]") -> None:
    sent_at = clock.now()
    try:
        standings = batch[0][1].backend.renew([lease.claim for _, lease in batch])
    except LockBackendError:
        for entry, lease in batch:
            lease.miss()
            entry.due_at = clock.now() + lease.claim.ttl_seconds * RETRY_SHARE
        return
    for (entry, lease), standing in zip(batch, standings, strict=True):
        if standing is Standing.HELD:
            lease.confirm(sent_at)
            entry.due_at = sent_at + lease.claim.ttl_seconds * RENEW_SHARE
        else:
            lease.lose("taken" if standing is Standing.TAKEN else "expired")


class _Alarm:
    """A thread that runs a job, sleeps until the clock reading that the job returned, and runs it again."""

    def __init__(self, name: str, job: Callable[[], float]) -> None:
        self._name = name
        self._job = job
        self._condition = threading.Condition()
        self._at = float("inf")
        self._thread: threading.Thread | None = None

    def not_later_than(self, at: float) -> None:
        """Run the job at this reading of the clock, if it would run later; starts the thread."""
        if at >= self._at:
            return
        with self._condition:
            self._at = min(self._at, at)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._condition.notify()

    def _run(self) -> None:
        while True:
            with self._condition:
                while (pause := self._at - clock.now()) > 0:
                    self._condition.wait(min(pause, IDLE_SECONDS))
                self._at = float("inf")
            self.not_later_than(max(self._job(), clock.now() + PAUSE_SECONDS_MIN))


def watchdog() -> Watchdog:
    """Return the watchdog of this process."""
    return _watchdog


_watchdog = Watchdog()
