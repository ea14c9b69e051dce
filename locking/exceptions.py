"""What can go wrong with a lock."""


class LockTimeout(Exception):  # noqa: N818 - named as the field names it.
    """Somebody else held the lock for all of the wait."""


class LockUnavailable(Exception):  # noqa: N818 - it names a state of the server.
    """The server of the locks cannot be reached."""
