"""Products and their ledger in the admin. Stock moves by two forms, through the services that the API uses."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from inventory import services
from inventory.forms import AdjustForm, MoveForm, SeedForm
from inventory.models import Product, StockMovement
from inventory.reading import ReadOnlyAdmin

LEDGER_ENTRIES_SHOWN = 10
Kind = StockMovement.Kind


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    """Products. Their stock is shown and never typed over."""

    list_display = ("sku", "name", "price", "currency", "limit_per_buyer", "state", "available", "held", "orders")
    list_filter = (
        "active",
        "admission",
        ("opens_at", admin.DateFieldListFilter),
        ("closes_at", admin.DateFieldListFilter),
    )
    list_per_page = 50
    list_select_related = ("stock",)
    search_fields = ("sku", "name")
    ordering = ("sku",)
    change_form_template = "admin/inventory/product/change_form.html"
    fieldsets = (
        (None, {"fields": ("sku", "name", "description")}),
        ("Price and limits", {"fields": (("price", "currency"), "limit_per_buyer", "hold_seconds")}),
        ("Sale", {"fields": (("opens_at", "closes_at"), "active", "admission")}),
    )

    @admin.display(description="state")
    def state(self, product: Product) -> str:
        """Say what a buyer would be told."""
        now = datetime.now(UTC)
        if not product.active:
            return "withdrawn"
        if product.opens_at is not None and now < product.opens_at:
            return "not open yet"
        if not product.is_open(now=now):
            return "closed"
        return "on sale" if product.stock.available else "sold out"

    @admin.display(description="available", ordering="stock__available")
    def available(self, product: Product) -> int:
        """Show the units that can be bought."""
        return product.stock.available

    @admin.display(description="held", ordering="stock__held")
    def held(self, product: Product) -> int:
        """Show the units of reserved orders."""
        return product.stock.held

    @admin.display(description="orders", ordering="stock__orders_total")
    def orders(self, product: Product) -> int:
        """Show how many orders were ever placed."""
        return product.stock.orders_total

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> tuple[str, ...]:
        """Keep the sku: orders and callers know the product by it."""
        return () if obj is None else ("sku",)

    def has_delete_permission(self, request: HttpRequest, obj: Product | None = None) -> bool:
        """Refuse: a product has a history. It is withdrawn instead."""
        return False

    def save_model(self, request: HttpRequest, obj: Product, form: "forms.ModelForm[Product]", change: bool) -> None:
        """Save through the services: only what was changed, and a new product with its stock row."""
        if change:
            services.update_product(sku=obj.sku, **{name: form.cleaned_data[name] for name in form.changed_data})
        else:
            obj.pk = services.create_product(**form.cleaned_data).pk

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show what is available, held and sold beside the form."""
        product = self.get_object(request, object_id)
        panel = {} if product is None else {"panel": _panel(product), "may_move": _may_move(request)}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | panel)

    def get_urls(self) -> list[URLPattern]:
        """Add the forms that move stock."""
        moves = [("seed", SeedForm), ("adjust", AdjustForm)]
        return [
            path(
                f"<int:product_id>/{name}/",
                self.admin_site.admin_view(self.move_view),
                {"form_class": form_class},
                name=f"inventory_product_{name}",
            )
            for name, form_class in moves
        ] + super().get_urls()

    def move_view(self, request: HttpRequest, product_id: int, form_class: type[MoveForm]) -> HttpResponse:
        """Show a form that moves stock, and move it."""
        if not _may_move(request):
            raise PermissionDenied
        product = Product.objects.with_stock().filter(pk=product_id).first()
        if product is None:
            raise Http404
        form = form_class(request.POST or None, product=product)
        if request.method == "POST" and form.is_valid():
            change = form.move(actor=f"staff:{request.user.get_username()}")
            if change is not None:
                self._tell(request, product, change)
                return HttpResponseRedirect(reverse("admin:inventory_product_change", args=[product.pk]))
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "product": product,
            "form": form,
            "title": f"{form.title}: {product.sku}",
        }
        return TemplateResponse(request, "admin/inventory/product/move.html", context)

    def _tell(self, request: HttpRequest, product: Product, change: services.StockChange) -> None:
        if change.replayed:
            messages.info(request, f"This was done already; {change.available} units are available now.")
            return
        moved = 0 if change.movement is None else change.movement.delta
        sentence = f"{moved:+d} units, {change.available} are available." if moved else "Nothing had to move."
        messages.success(request, sentence)
        if moved:
            self.log_change(request, product, f"Moved {sentence}")


def _may_move(request: HttpRequest) -> bool:
    return request.user.has_perm("inventory.change_stock")


def _panel(product: Product) -> dict[str, Any]:  # what the template shows
    entries = StockMovement.objects.filter(product=product)
    sums = entries.aggregate(
        seeded=Sum("delta", filter=Q(kind=Kind.SEEDED), default=0),
        adjusted=Sum("delta", filter=Q(kind=Kind.ADJUSTED), default=0),
        in_orders=Sum("delta", filter=Q(kind__in=[Kind.PLACED, Kind.RETURNED]), default=0),
    )
    stock = product.stock
    return {
        "numbers": {
            "Available": stock.available,
            "Held": stock.held,
            "Sold": -sums["in_orders"] - stock.held,
            "Seeded": sums["seeded"],
            "Adjusted": sums["adjusted"],
        },
        "orders_total": stock.orders_total,
        "version": stock.version,
        "entries": entries.newest_first()[:LEDGER_ENTRIES_SHOWN],
    }


@admin.register(StockMovement)
class StockMovementAdmin(ReadOnlyAdmin):
    """The ledger, to read."""

    list_display = ("product", "seq", "kind", "delta", "balance_after", "note", "actor", "created_at")
    list_filter = ("kind", ("created_at", admin.DateFieldListFilter))
    list_select_related = ("product",)
    ordering = ("-id",)
    exact_fields = ("product__sku", "request_id", "actor")
    uuid_fields = ("order_id",)
    fields = (
        ("product", "seq"),
        ("kind", "delta", "balance_after"),
        "note",
        ("actor", "request_id"),
        "order_id",
        "created_at",
        "previous_digest",
        "digest",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[StockMovement]:
        """Load the product with each entry."""
        return super().get_queryset(request).select_related("product")

    @admin.display(description="hash of the entry before")
    def previous_digest(self, entry: StockMovement) -> str:
        """Show the link."""
        return bytes(entry.previous_hash).hex()

    @admin.display(description="hash")
    def digest(self, entry: StockMovement) -> str:
        """Show the hash."""
        return bytes(entry.hash).hex()
