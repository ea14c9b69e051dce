"""Admin pages that only show, over tables of millions of rows: nothing is changed, and no look takes long."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import ModelAdmin, ShowFacets, display
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Paginator
from django.db import DataError, OperationalError, connection, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import SimpleTemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.html import format_html

ROWS_PER_PAGE = 50
#: Rows that are counted, and so can be paged through. Who needs others finds them by search and filters.
ROWS_COUNTED_MAX = 10_000
#: For one statement of a list: a search must not take from the sale what the sale needs.
LOOK_SECONDS_MAX = 3.0
QUERY_CANCELED = "57014"
NOTHING = "-"
#: Filters of a queryset that hold together.
Lookup = dict[str, Any]


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # not subscriptable at run time
    """Counts up to ROWS_COUNTED_MAX and no further: the whole of a large table is never counted."""

    @cached_property
    def count(self) -> int:
        """Give the number of rows that can be paged through."""
        return min(self._found, ROWS_COUNTED_MAX)

    @property
    def is_bounded(self) -> bool:
        """Tell whether there are more rows than were counted."""
        return self._found > ROWS_COUNTED_MAX

    @cached_property
    def _found(self) -> int:
        rows = self.object_list[: ROWS_COUNTED_MAX + 1]
        return rows.count() if isinstance(rows, QuerySet) else len(rows)


class BoundedListAdmin(ModelAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    """A list of which every look has its bounds: rows counted, rows shown, seconds."""

    list_per_page = ROWS_PER_PAGE
    list_max_show_all = ROWS_PER_PAGE
    paginator = BoundedPaginator
    show_full_result_count = False
    #: What the list is called.
    list_title = ""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, or say why it cannot be shown. An action changes things, and opens its own transactions."""
        context = {"title": self.list_title} | (extra_context or {})
        if request.method == "POST":
            return super().changelist_view(request, context)
        try:
            with transaction.atomic():
                _limit_statements()
                response = super().changelist_view(request, context)
                if isinstance(response, SimpleTemplateResponse):
                    response.render()
        except DataError:
            return self._show_all(request, "No value of that kind can be looked for.")
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) != QUERY_CANCELED:
                raise
            return self._show_all(request, "That took too long to find: narrow it by a filter.")
        return response

    def _show_all(self, request: HttpRequest, sentence: str) -> HttpResponse:
        self.message_user(request, sentence, messages.WARNING)
        return HttpResponseRedirect(request.path if request.GET else reverse("admin:index"))


class ReadOnly:
    """Take away every way to change."""

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:  # inlines are asked with their parent
        """Refuse."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse."""
        return False


class ReadOnlyAdmin(ReadOnly, BoundedListAdmin):
    """A list and its details, searched by whole values, in the one order that an index gives."""

    show_facets = ShowFacets.NEVER
    sortable_by = ()
    change_form_template = "admin/read_only.html"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find rows by the first lookup that has any.

        One after the other, each by its index: a pattern, or an OR over all fields, would read all rows.
        """
        term = search_term.strip()
        if not term:
            return queryset, False
        for lookup in self.lookups(term):
            found = queryset.filter(**lookup)
            if found.exists():
                return found, False
        return queryset.none(), False

    def lookups(self, term: str) -> Iterable[Lookup]:
        """List what to look for, the surest first; `search_fields` only says that there is something to search."""
        raise AssertionError("each list is searched in its own way")


def as_uuid(text: str) -> UUID | None:
    """Read a UUID; None where it is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def moment(value: datetime | None) -> str:
    """Show a time to the second: in a sale that is what tells one order from another."""
    return NOTHING if value is None else timezone.localtime(value).strftime("%Y-%m-%d %H:%M:%S")


def moment_of(name: str, label: str) -> Callable[[Any, Any], str]:  # a method of an admin, over rows of any model
    """Make the column of a field that is a time, in the site's zone."""

    @display(description=f"{label} ({settings.TIME_ZONE})")
    def column(_: Any, row: Any) -> str:
        return moment(getattr(row, name))

    return column


def badge(value: str, label: str) -> str:
    """Show a state as a word with a colour."""
    return format_html('<span class="badge badge-{}">{}</span>', value, label)


def link(url_name: str, key: object, text: object) -> str:
    """Link to the page of an object."""
    return format_html('<a href="{}">{}</a>', reverse(f"admin:{url_name}", args=[key]), text)


def search_link(url_name: str, term: object, text: object) -> str:
    """Link to a list, searched for a term."""
    return format_html('<a href="{}?{}">{}</a>', reverse(f"admin:{url_name}"), urlencode({"q": term}), text)


def units(number: int) -> str:
    """Show a number of units."""
    return intcomma(number)


def _limit_statements() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(int(LOOK_SECONDS_MAX * 1000))])
