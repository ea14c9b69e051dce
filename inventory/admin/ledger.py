"""The ledger in the admin, to read."""

from collections.abc import Iterator

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from inventory.admin.filters import ProductFilter, TimeFilter, id_of
from inventory.admin.reading import NOTHING, Lookup, ReadOnlyAdmin, as_uuid, link, moment_of, units
from inventory.models import StockMovement


@admin.register(StockMovement)
class StockMovementAdmin(ReadOnlyAdmin):
    """Every unit that came or went, the newest first."""

    list_title = "Ledger: every unit that came or went"
    list_display = ("entry", "at", "product_link", "kind", "moved", "balance", "actor", "note", "order")
    list_filter = (ProductFilter, "kind", TimeFilter)
    list_select_related = ("product",)
    ordering = ("-id",)
    search_fields = ("product__sku", "order_id", "request_id")
    search_help_text = "A sku, the id of an order, or a sku and the request_id of a movement of staff."
    fields = (
        "product_link",
        "entry",
        "kind",
        "moved",
        "balance",
        "note",
        "actor",
        "request_id",
        "order",
        "at",
        "previous_digest",
        "digest",
    )
    at = moment_of("created_at", "at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[StockMovement]:
        """Load the product with each entry."""
        return super().get_queryset(request).select_related("product")

    def lookups(self, term: str) -> Iterator[Lookup]:
        """Look for an order, a product, or a product's request."""
        if uuid := as_uuid(term):
            yield {"order_id": uuid}
        sku, *request_ids = term.split()
        if (product_id := id_of(sku)) is not None:
            yield {"product_id": product_id} | ({"request_id": request_ids[0]} if request_ids else {})

    @admin.display(description="entry")
    def entry(self, movement: StockMovement) -> str:
        """Show the place in the product's ledger."""
        return f"#{movement.seq}"

    @admin.display(description="product")
    def product_link(self, movement: StockMovement) -> str:
        """Link to the product."""
        return link("inventory_product_change", movement.product_id, movement.product.sku)

    @admin.display(description="units")
    def moved(self, movement: StockMovement) -> str:
        """Show the units with their sign."""
        return f"{movement.delta:+,}"

    @admin.display(description="available after")
    def balance(self, movement: StockMovement) -> str:
        """Show what the entry left available."""
        return units(movement.balance_after)

    @admin.display(description="order")
    def order(self, movement: StockMovement) -> str:
        """Link to the order, whose pages stand above this app."""
        return (
            NOTHING if movement.order_id is None else link("orders_order_change", movement.order_id, movement.order_id)
        )

    @admin.display(description="hash of the entry before")
    def previous_digest(self, movement: StockMovement) -> str:
        """Show the link of the chain."""
        return bytes(movement.previous_hash).hex()

    @admin.display(description="hash")
    def digest(self, movement: StockMovement) -> str:
        """Show what the next entry is chained to."""
        return bytes(movement.hash).hex()
