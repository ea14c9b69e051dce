"""What can go wrong with a lock. No error of redis-py or psycopg leaks: it is the cause of one of these."""

from typing import Literal

LossReason = Literal["expired", "taken", "unreachable"]


class LockError(Exception):
    """Something is wrong with a lock."""


class LockTimeout(LockError, TimeoutError):  # noqa: N818 - named as the field names it.
    """Somebody else held the lock for all of the wait."""


class LockLost(LockError):  # noqa: N818
    """The lease is no longer the holder's.

    `reason` is `expired` (nobody has taken it since, as far as is known), `taken` (another holds it) or `unreachable`
    (the server could not be asked before the lease's own end).
    """

    def __init__(self, message: str, *, reason: LossReason) -> None:
        super().__init__(message)
        self.reason: LossReason = reason


class StaleFence(LockLost):
    """A row carries the fence of a later holder: this lease has been outlived, and wrote nothing."""


class LockBackendError(LockError):
    """The server of the locks could not be asked; its own error is the cause. The lock is not acquired."""


class LockUsageError(LockError):
    """The call asks for what cannot be."""


class LockWarning(UserWarning):
    """The lock works, and probably does not protect what its caller thinks."""
