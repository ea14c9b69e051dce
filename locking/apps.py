"""The locking app."""

from django.apps import AppConfig


class LockingConfig(AppConfig):
    """The locking app."""

    name = "locking"
