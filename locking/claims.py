"""What a lock and its backend say to each other."""

import enum
import os
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["lock", "rwlock", "semaphore"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One attempt to take one lock, and afterwards one holder of it. Its token makes each command safe to repeat.

    All kinds are one: a resource with `limit` permits, given first come, first served. An exclusive claim needs all
    of them (a lock, a writer); another needs one (a permit of a semaphore; a reader, whose limit is out of reach).
    """

    kind: Kind
    name: str
    exclusive: bool
    limit: int
    ttl_seconds: float
    token: str
    owner: str


@dataclass(frozen=True, slots=True)
class Granted:
    """The claim holds the resource. No later grant of the same name has a fence that is not greater."""

    fence: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The claim does not hold the resource; it may after `recheck_seconds`, if it is told nothing before."""

    recheck_seconds: float


class Standing(enum.Enum):
    """What a backend knows of a claim that was granted."""

    HELD = "held"
    EXPIRED = "expired"
    TAKEN = "taken"


class Ending(enum.Enum):
    """What a release found."""

    RELEASED = "released"
    EXPIRED = "expired"  # The lease had ended before, and nobody has taken the lock since.
    TAKEN = "taken"  # The lease had ended before, and another holds the lock.
    UNKNOWN = "unknown"  # The server did not answer. The release is repeated in the background until the lease ends.


#: A backend's word to who waits: None is "your turn, ask again", a number is "look again within that many seconds".
Word = float | None
#: Leaves a word; False if nobody will ever read it.
Post = Callable[[Word], bool]


@dataclass(frozen=True, slots=True)
class Holding:
    """One holder or waiter, as `manage.py locks` shows it. Times are in seconds."""

    kind: Kind
    name: str
    token: str
    owner: str
    exclusive: bool
    fence: int | None  # None: it waits.
    age_seconds: float
    remaining_seconds: float


def new_token() -> str:
    """Return 128 random bits."""
    return secrets.token_hex(16)


def owner() -> str:
    """Return who asks, for the eyes of an operator: host, process, thread."""
    return f"{_HOST}:{os.getpid()}:{threading.current_thread().name}"


_HOST = socket.gethostname()
