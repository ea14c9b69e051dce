"""Orders, their lines and tallies in the admin, to read."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from inventory.admin.filters import ProductFilter, TimeFilter, id_of
from inventory.admin.reading import Lookup, ReadOnly, ReadOnlyAdmin, as_uuid, badge, link, moment_of, search_link, units
from orders.models import BuyerTally, Order, OrderLine

#: By how much the clock of a web process, which is in an order's id, may differ from PostgreSQL's.
CLOCK_SLACK = timedelta(minutes=10)
HEX_DIGITS_OF_UUID = 32
#: Of an id, to look for orders that begin with it: fewer digits would fit everything of a month.
PREFIX_DIGITS_MIN = 8


class OrderProductFilter(ProductFilter):
    """Keep the orders that have a line of one product."""

    def of(self, queryset: QuerySet[Any], product_id: int) -> QuerySet[Any]:
        """Keep the orders with a line of the product."""
        return queryset.filter(id__in=OrderLine.objects.filter(product_id=product_id).values("order_id"))


class OrderTimeFilter(TimeFilter):
    """Keep the orders of a span of time, by the time that is in their ids: the index of ids is by time."""

    def between(self, queryset: QuerySet[Any], start: datetime | None, end: datetime | None) -> QuerySet[Any]:
        """Keep the orders between two moments."""
        if start is not None:
            queryset = queryset.filter(id__gte=_first_id_of(start - CLOCK_SLACK))
        if end is not None:
            queryset = queryset.filter(id__lte=_first_id_of(end + CLOCK_SLACK))
        return super().between(queryset, start, end)


class OrderLineInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]  # not subscriptable at run time
    """The lines of an order."""

    model = OrderLine
    verbose_name_plural = "lines"
    fields = ("product_link", "quantity", "unit_price")
    readonly_fields = ("product_link",)
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderLine]:
        """Load the product with each line."""
        return super().get_queryset(request).select_related("product").order_by("product__sku")

    @admin.display(description="product")
    def product_link(self, line: OrderLine) -> str:
        """Link to the product."""
        return link("inventory_product_change", line.product_id, line.product.sku)


@admin.register(Order)
class OrderAdmin(ReadOnlyAdmin):
    """Orders, the newest first."""

    list_title = "Orders"
    list_display = ("placed", "shown_status", "buyer", "ordered", "shown_total", "held_until", "id")
    list_filter = ("status", OrderProductFilter, OrderTimeFilter)
    ordering = ("-id",)
    search_fields = ("id", "buyer", "request_id")
    search_help_text = (
        "A buyer, the id of an order or its first eight characters or more, a request_id, or a buyer and a request_id."
    )
    inlines = (OrderLineInline,)
    fields = (
        "id",
        "shown_status",
        "buyer",
        "request_id",
        "shown_total",
        "placed",
        "held_until",
        "confirmed",
        "cancelled",
        "expired",
        "movements",
        "fingerprint",
    )
    placed = moment_of("created_at", "placed")
    held_until = moment_of("expires_at", "held until")
    confirmed = moment_of("confirmed_at", "confirmed")
    cancelled = moment_of("cancelled_at", "cancelled")
    expired = moment_of("expired_at", "expired")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Order]:
        """Load the lines with the orders of a page."""
        return Order.objects.with_lines()

    def lookups(self, term: str) -> Iterator[Lookup]:
        """Look for an id, a request of a buyer, a buyer, the beginning of an id; last for a request_id alone."""
        if uuid := as_uuid(term):
            yield {"id": uuid}
        if len(words := term.split()) == 2:
            yield {"buyer": words[0], "request_id": words[1]}
        yield {"buyer": term}
        if ends := _ids_that_begin(term):
            yield {"id__range": ends}
        # No index is by request_id alone: this one reads the index of buyers and requests from end to end.
        yield {"request_id": term}

    @admin.display(description="status")
    def shown_status(self, order: Order) -> str:
        """Show the status; a hold past its time is over for its buyer, whatever the status says yet."""
        is_over = order.status == Order.Status.RESERVED and order.expires_at and order.expires_at <= datetime.now(UTC)
        return (
            badge("expired", "reserved, hold is over") if is_over else badge(order.status, order.get_status_display())
        )

    @admin.display(description="ordered")
    def ordered(self, order: Order) -> str:
        """Show what was ordered."""
        return ", ".join(f"{units(line.quantity)} x {line.product.sku}" for line in order.lines.all())

    @admin.display(description="total")
    def shown_total(self, order: Order) -> str:
        """Show the total with its currency."""
        return f"{order.total:,.2f} {order.currency}"

    @admin.display(description="ledger")
    def movements(self, order: Order) -> str:
        """Link to the movements of the order's units."""
        return search_link("inventory_stockmovement_changelist", order.id, "Movements of this order")


@admin.register(OrderLine)
class OrderLineAdmin(ReadOnlyAdmin):
    """Lines of orders, the newest first."""

    list_title = "Lines of orders"
    list_display = ("id", "product_link", "quantity", "shown_price", "shown_status", "order_link")
    list_filter = (ProductFilter,)
    list_select_related = ("product", "order")
    ordering = ("-id",)
    search_fields = ("order__id", "product__sku")
    search_help_text = "The id of an order, or a sku."
    fields = ("order_link", "shown_status", "product_link", "quantity", "shown_price")

    def lookups(self, term: str) -> Iterator[Lookup]:
        """Look for an order or a product."""
        if uuid := as_uuid(term):
            yield {"order_id": uuid}
        if (product_id := id_of(term)) is not None:
            yield {"product_id": product_id}

    @admin.display(description="unit price")
    def shown_price(self, line: OrderLine) -> str:
        """Show the price with its currency."""
        return f"{line.unit_price:,.2f} {line.order.currency}"

    @admin.display(description="order")
    def order_link(self, line: OrderLine) -> str:
        """Link to the order."""
        return link("orders_order_change", line.order_id, line.order_id)

    @admin.display(description="status")
    def shown_status(self, line: OrderLine) -> str:
        """Show the status of the order."""
        return badge(line.order.status, line.order.get_status_display())

    @admin.display(description="product")
    def product_link(self, line: OrderLine) -> str:
        """Link to the product."""
        return link("inventory_product_change", line.product_id, line.product.sku)


@admin.register(BuyerTally)
class BuyerTallyAdmin(ReadOnlyAdmin):
    """How many units each buyer has."""

    list_title = "What each buyer has"
    list_display = ("buyer", "product_link", "units", "shown_limit", "orders")
    list_filter = (ProductFilter,)
    list_select_related = ("product",)
    ordering = ("product_id", "buyer")
    search_fields = ("buyer", "product__sku")
    search_help_text = "A buyer, or a sku."
    fields = ("buyer", "product_link", "units", "shown_limit", "orders")

    def lookups(self, term: str) -> Iterator[Lookup]:
        """Look for a buyer or a product."""
        yield {"buyer": term}
        if (product_id := id_of(term)) is not None:
            yield {"product_id": product_id}

    @admin.display(description="product")
    def product_link(self, tally: BuyerTally) -> str:
        """Link to the product."""
        return link("inventory_product_change", tally.product_id, tally.product.sku)

    @admin.display(description="limit at the last order", empty_value="none")
    def shown_limit(self, tally: BuyerTally) -> int | None:
        """Show the limit."""
        return tally.limit

    @admin.display(description="orders")
    def orders(self, tally: BuyerTally) -> str:
        """Link to the buyer's orders."""
        return search_link("orders_order_changelist", tally.buyer, "Orders")


def _first_id_of(moment: datetime) -> UUID:
    """Give the least UUIDv7 of a millisecond (RFC 9562, section 5.7); moments outside of its range get its ends."""
    milliseconds = int(moment.timestamp() * 1000)
    return UUID(int=max(0, milliseconds) << 80)


def _ids_that_begin(text: str) -> tuple[UUID, UUID] | None:
    """Give the least and the greatest UUID that begin with these digits; None where they are none, or too few."""
    digits = text.replace("-", "").lower()
    if not PREFIX_DIGITS_MIN <= len(digits) < HEX_DIGITS_OF_UUID or set(digits) - set("0123456789abcdef"):
        return None
    return UUID(digits.ljust(HEX_DIGITS_OF_UUID, "0")), UUID(digits.ljust(HEX_DIGITS_OF_UUID, "f"))
