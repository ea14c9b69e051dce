"""The orders app."""

from django.apps import AppConfig


class OrdersConfig(AppConfig):
    """The orders app."""

    name = "orders"
