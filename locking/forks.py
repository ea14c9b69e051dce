"""What a forked child does with locks, lines and threads: it begins with none."""

import os
import weakref
from typing import Protocol


class BeginsAnew(Protocol):
    """Something that keeps locks, waiters or threads."""

    def begin_anew(self) -> None:
        """Forget all that belongs to threads of the parent."""


def begin_anew(holder: BeginsAnew) -> None:
    """Let `holder` begin anew in every forked child, for as long as it lives."""
    _holders.add(holder)


def in_child() -> bool:
    """Tell whether this process was forked from one that had locks: a block begun before holds nothing here."""
    return _in_child


def _begin_child() -> None:
    # The threads that held locks, or were changing a line, are not in the child. Nobody would ever release for them.
    global _in_child  # noqa: PLW0603 - a process is forked or it is not.
    _in_child = True
    for holder in list(_holders):
        holder.begin_anew()


_in_child = False
_holders: weakref.WeakSet[BeginsAnew] = weakref.WeakSet()
os.register_at_fork(after_in_child=_begin_child)
