"""What every backend does: `locking.acquiring` drives it, leases and their renewal hold on to what it grants."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from locking import durations, forks, janitor
from locking.claims import Claim, Ending, Granted, Holding, Kind, Post, Refused, Standing
from locking.exceptions import LockUsageError
from locking.lines import Lines

TTL_SECONDS = 30.0
TIMEOUT_SECONDS = 10.0
MAX_HOLD_SECONDS = 3600.0
#: How long an acquire tries to reach a server that does not answer. Set it higher to sit out a fail-over.
PATIENCE_SECONDS = 0.5


class Backend(ABC):
    """Grants and ends claims. Each method is safe to repeat, may be called by any thread, and raises LockBackendError
    when its server cannot be asked.

    A forked child shares nothing of it: `begin_anew` forgets what belongs to the parent's threads.
    """

    #: What it can do; anything else is refused with LockUsageError.
    kinds: ClassVar[frozenset[Kind]] = frozenset({"lock", "rwlock", "semaphore"})
    #: Options of LOCKING that it knows, besides those that all know.
    options: ClassVar[frozenset[str]] = frozenset()
    #: How many leases `renew` takes at once.
    renew_max: ClassVar[int] = 500

    def __init__(self, alias: str, options: Mapping[str, Any]) -> None:
        """Take the options of LOCKING[alias]; unknown ones are a mistake of spelling."""
        unknown = set(options) - self.options - {"BACKEND", "TTL", "TIMEOUT", "MAX_HOLD", "PATIENCE"}
        if unknown:
            raise LockUsageError(f"LOCKING[{alias!r}] has unknown options: {', '.join(sorted(unknown))}")
        self.alias = alias
        self.ttl_seconds = durations.ttl(options.get("TTL", TTL_SECONDS), what="TTL")
        self.timeout_seconds = durations.timeout(options.get("TIMEOUT", TIMEOUT_SECONDS), what="TIMEOUT")
        self.max_hold_seconds = durations.ttl(options.get("MAX_HOLD", MAX_HOLD_SECONDS), what="MAX_HOLD")
        self.patience_seconds = durations.timeout(options.get("PATIENCE", PATIENCE_SECONDS), what="PATIENCE")
        self.begin_anew()
        forks.begin_anew(self)

    def begin_anew(self) -> None:
        """Begin with nobody in line; a subclass adds what else is of one process."""
        self.lines = Lines()

    @abstractmethod
    def ask(self, claim: Claim, *, wait_seconds: float, post: Post) -> Granted | Refused:
        """Ask for the claim once.

        With `wait_seconds` > 0 a refused claim stands in line for as long, and `post` is called, by any thread, when
        it is worth asking again; a backend may also wait in the call. With 0 a refused claim leaves the line.
        Asked again with the same token after a grant, the lease begins anew with the same fence.
        """

    @abstractmethod
    def release(self, claim: Claim) -> Ending:
        """End the claim, granted or waiting, and hand over to those who wait."""

    @abstractmethod
    def renew(self, claims: Sequence[Claim]) -> list[Standing]:
        """Let each lease last for its `ttl_seconds` from now, if it is still the claim's. Never bring one back."""

    @abstractmethod
    def look(self, claim: Claim) -> Standing:
        """Say how the claim stands, and change nothing."""

    def abandon(self, claim: Claim) -> None:
        """End a claim of which it is not known how it stands, in the background and until its lease is over."""
        janitor.clean(self.release, claim)

    def forget(self, claim: Claim) -> None:
        """Post nothing more to a claim that no longer waits; nothing to do where no posts are kept."""
        return

    def holdings(self) -> Iterable[Holding]:
        """Yield who holds and who waits, for operators; a snapshot of each lock, not of all together."""
        raise LockUsageError(f"the backend of LOCKING[{self.alias!r}] cannot list its locks")

    def force_release(self, *, kind: Kind, name: str) -> int:
        """Take a lock from all who hold it, hand over to those who wait, and return how many lost it."""
        raise LockUsageError(f"the backend of LOCKING[{self.alias!r}] cannot take a lock from its holder")
