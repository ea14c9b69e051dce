"""Products in the admin: the list of a sale night, and the form of what a product says."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.views.decorators.csrf import csrf_protect

from inventory import services
from inventory.admin.filters import StateFilter
from inventory.admin.moves import actor_of, sentence_of
from inventory.admin.overview import Overview, State, overview
from inventory.admin.reading import ROWS_PER_PAGE, badge, moment, units
from inventory.admin.stock import StockPages
from inventory.exceptions import Refusal, SkuTaken
from inventory.forms import NewProductForm, ProductForm
from inventory.models import Product

#: Of a form whose product was changed by another between the form's check and its writing.
TRIES_MAX = 3

SALE = ("Sale", {"fields": (("opens_at", "closes_at"), "active", "admission")})
PRICE = ("Price and limits", {"fields": (("price", "currency"), "limit_per_buyer", "hold_seconds")})
NAME = (None, {"fields": ("sku", "name", "description")})
STOCK = ("First stock", {"fields": ("units", "reason", "request_id")})


@admin.register(Product)
class ProductAdmin(StockPages):
    """Products. Their stock is shown and never typed over."""

    form = ProductForm
    list_title = "Products"
    list_display = ("product", "available", "held", "sold", "shown_state", "shown_price", "shown_limit")
    list_filter = (StateFilter, "admission", ("opens_at", admin.DateFieldListFilter))
    search_fields = ("sku", "name")
    search_help_text = "A part of the sku or of the name."
    ordering = ("sku",)
    actions = ("withdraw", "offer")
    #: Django's own, which its stubs do not name.
    _changeform_view: Callable[..., HttpResponse]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        """Read state and units with each product."""
        return overview(super().get_queryset(request))

    @admin.display(description="product", ordering="sku")
    def product(self, product: Product) -> str:
        """Show sku and name in one column, so that the numbers fit on a phone."""
        return format_html('{} <span class="below">{}</span>', product.sku, product.name)

    @admin.display(description="state", ordering="state")
    def shown_state(self, product: Overview) -> str:
        """Say what a buyer who comes now would find, and until when."""
        shown = badge(product.state, State(product.state).label)
        return format_html('{} <span class="below">{}</span>', shown, _until(product))

    @admin.display(description="available", ordering="available")
    def available(self, product: Overview) -> str:
        """Show the units that can be bought."""
        return units(product.available)

    @admin.display(description="held", ordering="held")
    def held(self, product: Overview) -> str:
        """Show the units of reserved orders."""
        return units(product.held)

    @admin.display(description="sold", ordering="sold")
    def sold(self, product: Overview) -> str:
        """Show the units of confirmed orders."""
        return units(product.sold)

    @admin.display(description="price", ordering="price")
    def shown_price(self, product: Product) -> str:
        """Show the price with its currency."""
        return f"{product.price:,.2f} {product.currency}"

    @admin.display(description="limit", ordering="limit_per_buyer", empty_value="none")
    def shown_limit(self, product: Product) -> int | None:
        """Show the limit per buyer."""
        return product.limit_per_buyer

    @admin.action(description="Withdraw: take no new orders", permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Product]) -> None:
        """Stop the sale of the chosen products."""
        self._set_active(request, queryset, active=False)

    @admin.action(description="Put back on offer", permissions=["change"])
    def offer(self, request: HttpRequest, queryset: QuerySet[Product]) -> None:
        """Take the chosen products back from their withdrawal."""
        self._set_active(request, queryset, active=True)

    def _set_active(self, request: HttpRequest, queryset: QuerySet[Product], *, active: bool) -> None:
        products = list(queryset.exclude(active=active).order_by("pk")[: ROWS_PER_PAGE + 1])
        if len(products) > ROWS_PER_PAGE:
            self.message_user(request, f"Choose at most {ROWS_PER_PAGE} products at a time.", messages.ERROR)
            return
        word = "Put back on offer" if active else "Withdrawn"
        for product in products:
            services.update_product(sku=product.sku, active=active)
            self.log_change(request, product, f"{word}.")
        names = ", ".join(product.sku for product in products)
        self.message_user(request, f"{word}: {names}." if names else "Nothing had to change.")

    def get_fieldsets(self, request: HttpRequest, obj: Product | None = None) -> Any:  # Django's, of nested sequences
        """Ask for the first units of a new product; stock is no field of one that exists."""
        return [NAME, PRICE, SALE] if obj is not None else [NAME, PRICE, SALE, STOCK]

    def get_form(self, request: HttpRequest, obj: Product | None = None, change: bool = False, **options: Any) -> Any:
        """Give the form of a new product, or of one that exists."""
        return super().get_form(request, obj, change, **({} if change else {"form": NewProductForm}) | options)

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> tuple[str, ...]:
        """Keep the sku: orders and callers know the product by it."""
        return () if obj is None else ("sku",)

    def has_delete_permission(self, request: HttpRequest, obj: Product | None = None) -> bool:
        """Refuse: a product has a history. It is withdrawn instead."""
        return False

    @method_decorator(csrf_protect)
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show and take the form without Django's transaction around it: the services open their own.

        Where they refuse what the form has let pass, another was faster: the form looks again and says so.
        """
        for _ in range(TRIES_MAX):
            try:
                return self._changeform_view(request, object_id, form_url, extra_context)
            except Refusal as error:
                refusal = error
        self.message_user(request, refusal.sentence, messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Product, form: Any, change: bool) -> None:  # our own forms
        """Save through the services: only what was changed, and a new product with its stock row."""
        if change:
            services.update_product(sku=obj.sku, is_current=form.is_current, **form.changes())
        else:
            obj.pk = self._create(request, form).pk

    def _create(self, request: HttpRequest, form: NewProductForm) -> Product:
        try:
            product = services.create_product(**form.product())
        except SkuTaken:
            before = form.made_before()
            if before is None:
                raise
            product = before
            self.message_user(request, "This form was sent twice: the product was made once.", messages.INFO)
        given = form.cleaned_data
        if given["units"]:
            change = services.seed(
                sku=product.sku,
                available=given["units"],
                request_id=given["request_id"],
                actor=actor_of(request),
                note=given["reason"],
            )
            self.message_user(request, sentence_of(change), messages.INFO)
        return product

    def log_addition(self, request: HttpRequest, obj: Product, message: Any) -> LogEntry:  # Django's own message
        """Log a product once, however often its form was sent."""
        logged = LogEntry.objects.filter(
            content_type=get_content_type_for_model(obj), object_id=obj.pk, action_flag=ADDITION
        ).first()
        return logged or super().log_addition(request, obj, message)

    def response_post_save_add(self, request: HttpRequest, obj: Product) -> HttpResponseRedirect:
        """Go on to the new product's page, where its stock is."""
        if not self.has_view_or_change_permission(request, obj):
            return super().response_post_save_add(request, obj)
        return HttpResponseRedirect(reverse("admin:inventory_product_change", args=[obj.pk]))


def _until(product: Overview) -> str:
    """Say what comes next for a product in its state."""
    if product.state == State.SOLD_OUT and not product.entries:
        return "not seeded yet"
    next_at = {State.NOT_OPEN: product.opens_at, State.ON_SALE: product.closes_at, State.CLOSED: product.closes_at}
    moment_at = next_at.get(State(product.state))
    words = {State.NOT_OPEN: "opens", State.ON_SALE: "closes", State.CLOSED: "closed"}
    return f"{words[State(product.state)]} {moment(moment_at)} {settings.TIME_ZONE}" if moment_at else ""
