"""The access app."""

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """The access app."""

    name = "access"
