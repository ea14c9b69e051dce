"""Admin pages that only show: nothing there is added, changed or deleted."""

from typing import Any
from uuid import UUID

from django.contrib.admin import ModelAdmin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest


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


class ReadOnlyAdmin(ReadOnly, ModelAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    """A list and its details, searched by whole values: a pattern would read a million rows."""

    list_per_page = 50
    show_full_result_count = False
    #: Text fields that are searched for the whole of what is typed.
    exact_fields: tuple[str, ...] = ()
    #: UUID fields that are searched where what is typed is a UUID.
    uuid_fields: tuple[str, ...] = ()

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """Tell Django that there is something to search."""
        return (*self.exact_fields, *self.uuid_fields)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find rows one of whose fields is what was typed."""
        term = search_term.strip().replace("\0", "")
        if not term:
            return queryset, False
        wanted = Q(pk__in=[])
        for name in self.exact_fields:
            wanted |= Q(**{name: term})
        for name in self.uuid_fields if _is_uuid(term) else ():
            wanted |= Q(**{name: term})
        return queryset.filter(wanted), False


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
