"""Releasing and transactions: what others see after a release is what was committed before it."""

import warnings
from collections.abc import Callable

from django.db import connections, transaction

from locking.claims import Claim
from locking.exceptions import LockWarning


def warn_in_open_transaction(claim: Claim) -> None:
    """Warn when a lock is released before the transaction that it protects is committed."""
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block and not all(
            getattr(block, "_from_testcase", False) for block in connection.atomic_blocks
        ):
            warnings.warn(
                f"{claim.kind} {claim.name!r} was released inside an open transaction: the next holder does not see "
                'what it wrote. Take the lock outside of atomic(), or with release="on_commit".',
                LockWarning,
                stacklevel=4,
            )


class AfterTransaction:
    """Releases once: when the transaction commits, or when it drops this object because it was rolled back."""

    def __init__(self, release: Callable[[], object]) -> None:
        """Wait for the end of the transaction."""
        self._release: Callable[[], object] | None = release

    def __call__(self) -> None:
        """Release."""
        release, self._release = self._release, None
        if release is not None:
            release()

    def __del__(self) -> None:
        """Release, if no commit has done it."""
        self()


def after_transaction(release: Callable[[], object], *, using: str | None) -> None:
    """Release after the commit or the rollback of the open transaction; at once without one."""
    transaction.on_commit(AfterTransaction(release), using=using)
