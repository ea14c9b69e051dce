"""What a forked child does with locks: it begins with all of them free."""

import os
import weakref
from typing import Protocol


class BeginsFree(Protocol):
    """Something that holds locks."""

    def begin_free(self) -> None:
        """Forget all holders and waiters."""


def begin_free(holder: BeginsFree) -> None:
    """Let every forked child begin with the locks of `holder` free, for as long as `holder` lives."""
    _holders.add(holder)


def in_child() -> bool:
    """Tell whether this process was forked from one that had locks: a block begun before holds nothing here."""
    return _in_child


def _begin_child() -> None:
    # The threads that held locks, or were changing a line, are not in the child. Nobody would ever release for them.
    global _in_child  # noqa: PLW0603 - a process is forked or it is not.
    _in_child = True
    for holder in list(_holders):
        holder.begin_free()


_in_child = False
_holders: weakref.WeakSet[BeginsFree] = weakref.WeakSet()
os.register_at_fork(after_in_child=_begin_child)
