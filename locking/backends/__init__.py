"""The backends of LOCKING, one object per alias and process."""

from typing import Any

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from locking.backends.base import Backend
from locking.exceptions import LockUsageError

DEFAULT = "default"
SHORT_NAMES = {
    "redis": "locking.backends.redis.RedisBackend",
    "memory": "locking.backends.memory.MemoryBackend",
}

_backends: dict[str, Backend] = {}


def get(alias: str = DEFAULT) -> Backend:
    """Return the backend of LOCKING[alias]."""
    backend = _backends.get(alias)
    if backend is None:
        # Two threads that meet here keep one of two equal ones.
        backend = _backends.setdefault(alias, _make(alias))
    return backend


def configured() -> dict[str, dict[str, Any]]:
    """Return LOCKING; without it, locks live in the cache alias `locks`."""
    options: dict[str, dict[str, Any]] = getattr(settings, "LOCKING", {DEFAULT: {"BACKEND": "redis"}})
    return options


def _make(alias: str) -> Backend:
    try:
        options = configured()[alias]
    except KeyError:
        raise LockUsageError(f"LOCKING has no alias {alias!r}") from None
    path = options.get("BACKEND", "redis")
    backend = import_string(SHORT_NAMES.get(path, path))
    made: Backend = backend(alias, options)
    return made


def _forget(*, setting: str, **kwargs: object) -> None:
    if setting in {"LOCKING", "CACHES"}:
        _backends.clear()


setting_changed.connect(_forget)
