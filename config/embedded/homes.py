"""Where a server lives: its user, its directory, and a socket path that is short enough."""

import hashlib
import os
import pwd
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from config.embedded.errors import ServiceError

#: `sun_path` holds 108 bytes on Linux and 104 on macOS, the closing zero among them.
SOCKET_PATH_BYTES_MAX = 103
UNPRIVILEGED = ("postgres", "nobody")
#: Where root keeps what another user must reach, when the checkout lies where he may not go.
REACHABLE = Path("/var/lib/fairdrop")


@dataclass(frozen=True)
class User:
    """Who runs a server."""

    uid: int
    gid: int


def me() -> User:
    """Give the user of this process."""
    return User(os.geteuid(), os.getegid())


def unprivileged() -> User:
    """Find who runs PostgreSQL, which refuses root: oneself, or an account without rights that every system has."""
    if os.geteuid() != 0:
        return me()
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return User(entry.pw_uid, entry.pw_gid)
    raise ServiceError(f"PostgreSQL does not run as root, and there is none of the users {', '.join(UNPRIVILEGED)}")


def can_reach(path: Path, user: User) -> bool:
    """Tell whether a user may pass through all directories down to a path, those that exist."""
    if user.uid == os.geteuid():
        return True
    return all(_can_pass(parent, user) for parent in path.parents if parent.exists())


def _can_pass(directory: Path, user: User) -> bool:
    status = directory.stat()
    if status.st_uid == user.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == user.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def reachable(directory: Path, user: User) -> Path:
    """Give the directory itself where the user may go there, else one that stands for it and for no other."""
    if can_reach(directory, user):
        return directory
    return REACHABLE / _digest(directory)


def socket_dir(directory: Path, socket_name: str) -> Path:
    """Give the directory for a socket: the server's own, or a short one among temporary files that stands for it."""
    if len(os.fsencode(directory / socket_name)) <= SOCKET_PATH_BYTES_MAX:
        return directory
    return Path(tempfile.gettempdir()) / f"fairdrop-{_digest(directory)}"


def make_private(directory: Path, user: User) -> None:
    """Make a directory that this user alone may enter; refuse one that somebody else has put there."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        status = directory.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {os.geteuid(), user.uid}:
            raise ServiceError(f"{directory} is not ours: remove it, or choose another STATE_DIR") from None
    if directory.stat().st_uid != user.uid:
        os.chown(directory, user.uid, user.gid)
    directory.chmod(0o700)


def _digest(directory: Path) -> str:
    return hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]
