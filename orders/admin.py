"""Orders, their lines and tallies in the admin, to read."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from inventory.reading import ReadOnly, ReadOnlyAdmin
from orders.models import BuyerTally, Order, OrderLine


class OrderLineInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]  # not subscriptable at run time
    """The lines of an order."""

    model = OrderLine
    fields = ("product", "quantity", "unit_price")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderLine]:
        """Load the product with each line."""
        return super().get_queryset(request).select_related("product")


@admin.register(Order)
class OrderAdmin(ReadOnlyAdmin):
    """Orders."""

    list_display = ("id", "buyer", "status", "total", "currency", "created_at", "expires_at")
    list_filter = ("status", ("created_at", admin.DateFieldListFilter))
    ordering = ("-id",)
    exact_fields = ("buyer", "request_id")
    uuid_fields = ("id",)
    inlines = (OrderLineInline,)
    fields = (
        "id",
        ("buyer", "request_id"),
        "status",
        ("total", "currency"),
        ("created_at", "expires_at"),
        ("confirmed_at", "cancelled_at", "expired_at"),
        "fingerprint",
    )

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:  # a URL's value
        """Let a product's page link to its orders."""
        return lookup == "lines__product__id__exact" or super().lookup_allowed(lookup, value, request)


@admin.register(BuyerTally)
class BuyerTallyAdmin(ReadOnlyAdmin):
    """How many units each buyer has."""

    list_display = ("product", "buyer", "units", "limit")
    list_select_related = ("product",)
    ordering = ("product_id", "buyer")
    exact_fields = ("buyer", "product__sku")
