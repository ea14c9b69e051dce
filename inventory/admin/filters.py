"""Filters beside the lists: by state, by product, by time."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.contrib.admin import ListFilter, SimpleListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from inventory.admin.overview import State
from inventory.models import Product

Parameters = dict[str, list[str]]
#: Of a moment to filter by; all of them can be told in the milliseconds of a UUIDv7.
YEARS = range(1970, 3000)


class StateFilter(SimpleListFilter):
    """Keep the products that are in one state at this moment."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # generic only for mypy
        """List the states."""
        return [(str(value), str(label)) for value, label in State.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the products in the chosen state."""
        return queryset.filter(state=self.value()) if self.value() else queryset


class TypedFilter(ListFilter):
    """A filter that is typed into a form of its own, and keeps what the others have chosen."""

    parameters: tuple[str, ...] = ()

    def __init__(
        self, request: HttpRequest, params: Parameters, model: type[Model], model_admin: Any
    ) -> None:  # as Django has it
        """Take the filter's own parameters out of the query string."""
        super().__init__(request, params, model, model_admin)
        for name in self.parameters:
            if name in params:
                self.used_parameters[name] = params.pop(name)[-1].strip().replace("\0", "")

    def has_output(self) -> bool:
        """Show it always."""
        return True

    def expected_parameters(self) -> list[str | None]:
        """Name the filter's own parameters."""
        return list(self.parameters)

    def given(self, name: str) -> str:
        """Give what was typed; empty for nothing."""
        return str(self.used_parameters.get(name, ""))

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:
        """Give the template the parameters to keep and the address without this filter."""
        yield {
            "kept": [(name, value) for name, value in changelist.params.items() if name not in self._own],
            "clear": changelist.get_query_string(remove=list(self.parameters)),
        }

    @property
    def _own(self) -> set[str]:
        return {*self.parameters, PAGE_VAR}


class ProductFilter(TypedFilter):
    """Keep the rows of one product, by its sku."""

    title = "product"
    template = "admin/product_filter.html"
    parameters = ("product",)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the rows of the product."""
        sku = self.given("product")
        if not sku:
            return queryset
        product_id = id_of(sku)
        return queryset.none() if product_id is None else self.of(queryset, product_id)

    def of(self, queryset: QuerySet[Any], product_id: int) -> QuerySet[Any]:
        """Keep the rows of a product."""
        return queryset.filter(product_id=product_id)


def id_of(sku: str) -> int | None:
    """Find a product's id. Rows are looked for by it, for of an id the planner knows how many rows it has."""
    return Product.objects.filter(sku=sku).order_by("pk").values_list("pk", flat=True).first()


class TimeFilter(TypedFilter):
    """Keep the rows of the last minutes, or of a span of time."""

    title = "time"
    template = "admin/time_filter.html"
    parameters = ("last", "from", "until")
    spans = {
        "15m": ("Last 15 minutes", timedelta(minutes=15)),
        "1h": ("Last hour", timedelta(hours=1)),
        "1d": ("Last 24 hours", timedelta(days=1)),
        "7d": ("Last 7 days", timedelta(days=7)),
    }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep what lies between the two ends, each where it was given."""
        last, start, end = self.given("last"), _moment(self.given("from")), _moment(self.given("until"))
        if last:
            if last not in self.spans:
                raise IncorrectLookupParameters
            start = timezone.now() - self.spans[last][1]
        return self.between(queryset, start, end)

    def between(self, queryset: QuerySet[Any], start: datetime | None, end: datetime | None) -> QuerySet[Any]:
        """Keep what lies between two moments."""
        if start is not None:
            queryset = queryset.filter(created_at__gte=start)
        return queryset if end is None else queryset.filter(created_at__lte=end)

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:
        """Add the spans to choose from."""
        [choice] = super().choices(changelist)
        others = [name for name in self.parameters if name != "last"]
        links = [
            {
                "label": label,
                "selected": self.given("last") == name,
                "query": changelist.get_query_string({"last": name}, others),
            }
            for name, (label, _) in self.spans.items()
        ]
        yield choice | {
            "spans": links,
            "is_chosen": bool(self.used_parameters),
            "from": self.given("from"),
            "until": self.given("until"),
            "zone": timezone.get_current_timezone_name(),
        }


def _moment(text: str) -> datetime | None:
    """Read what a browser's datetime field sends, in the site's zone."""
    if not text:
        return None
    try:
        moment = timezone.make_aware(datetime.fromisoformat(text).replace(tzinfo=None))
    except (ValueError, OverflowError) as error:
        raise IncorrectLookupParameters from error
    if moment.year not in YEARS:
        raise IncorrectLookupParameters
    return moment
