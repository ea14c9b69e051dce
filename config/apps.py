"""The config app."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The config app."""

    name = "config"
