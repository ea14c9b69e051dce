"""A product's stock in the admin: its numbers and last movements on the product's page, and the pages that move it."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from inventory.admin.moves import AdjustForm, MoveForm, SeedForm, actor_of, may_move, sentence_of
from inventory.admin.overview import State
from inventory.admin.reading import BoundedListAdmin, moment
from inventory.models import Stock, StockMovement

LEDGER_ENTRIES_SHOWN = 10


class StockPages(BoundedListAdmin):
    """Shows stock beside a product, and moves it through the services of the API."""

    change_form_template = "admin/inventory/product/change_form.html"
    move_template = "admin/inventory/product/move.html"

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,  # a product with its overview
    ) -> HttpResponse:
        """Show what is available, held and sold above the form."""
        if obj is not None:
            entries = StockMovement.objects.filter(product=obj).newest_first()[:LEDGER_ENTRIES_SHOWN]
            context |= {
                "title": obj.name,
                "subtitle": obj.sku,
                "entries": entries,
                "may_move": may_move(request),
                "state_label": State(obj.state).label,
                "read_at": moment(timezone.now()),
                "zone": timezone.get_current_timezone_name(),
            }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def get_urls(self) -> list[URLPattern]:
        """Add the pages that move stock."""
        return [
            path(
                f"<int:product_id>/{name}/",
                self.admin_site.admin_view(self.move_view),
                {"form_class": form_class},
                name=f"inventory_product_{name}",
            )
            for name, form_class in (("seed", SeedForm), ("adjust", AdjustForm))
        ] + super().get_urls()

    def move_view(self, request: HttpRequest, product_id: int, form_class: type[MoveForm]) -> HttpResponse:
        """Show a form that moves stock, and move it."""
        stock = Stock.objects.select_related("product").filter(pk=product_id).first()
        if not may_move(request) or not self.has_view_or_change_permission(request, stock and stock.product):
            raise PermissionDenied
        if stock is None:
            self.message_user(request, "There is no such product.", messages.WARNING)
            return HttpResponseRedirect(reverse("admin:inventory_product_changelist"))
        form = form_class(request.POST if request.method == "POST" else None, product=stock.product, stock=stock)
        change = form.move(actor=actor_of(request)) if form.is_valid() else None
        if change is None:
            return self._show_move(request, form)
        sentence = sentence_of(change)
        if change.movement is not None and not change.replayed:
            self.log_change(request, stock.product, f"{form.title}: {sentence}")
        self.message_user(request, sentence, messages.INFO if change.replayed else messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:inventory_product_change", args=[product_id]))

    def _show_move(self, request: HttpRequest, form: MoveForm) -> HttpResponse:
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "product": form.product,
            "stock": form.stock,
            "form": form,
            "title": f"{form.title}: {form.product.sku}",
        }
        return TemplateResponse(request, self.move_template, context)
