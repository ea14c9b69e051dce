"""Names of locks, and the hash tags that are made of them."""

from urllib.parse import unquote

from locking.exceptions import LockUsageError

NAME_BYTES_MAX = 1024


def check(name: str) -> str:
    """Return the name; raise LockUsageError unless it is 1 to 1,024 bytes of text."""
    if not isinstance(name, str):
        raise LockUsageError(f"a lock's name is text, not {type(name).__name__}")
    try:
        size_bytes = len(name.encode())
    except UnicodeEncodeError:
        raise LockUsageError("a lock's name must be encodable as UTF-8") from None
    if not 0 < size_bytes <= NAME_BYTES_MAX:
        raise LockUsageError(f"a lock's name has 1 to {NAME_BYTES_MAX} bytes, not {size_bytes}")
    return name


def to_tag(name: str) -> str:
    """Return the name as a hash tag of Redis Cluster: braces end a tag, so they are percent-encoded, reversibly."""
    if "%" in name or "{" in name or "}" in name:
        return name.replace("%", "%25").replace("{", "%7B").replace("}", "%7D")
    return name


def from_tag(tag: str) -> str:
    """Return the name that `to_tag` made the tag of."""
    return unquote(tag) if "%" in tag else tag
