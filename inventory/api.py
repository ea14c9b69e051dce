"""What all views of the API share: bodies as bytes, documents as JSON, checked parameters, pages by keyset."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode

import msgspec
from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.http.request import RawPostDataException, UnreadablePostError
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.views import APIView

from access.caller import caller_of
from inventory.exceptions import Invalid

JSON = "application/json"
PAGE_SIZE_DEFAULT = 50
PAGE_SIZE_MAX = 200
PAGING = {"cursor", "page_size"}

Row = TypeVar("Row", bound=Model)
encoder = msgspec.json.Encoder()


class JsonView(APIView):
    """A view whose bodies are parsed by msgspec, once, and whose answers are encoded by it."""

    #: Query parameters of GET beside those of paging.
    parameters: ClassVar[Collection[str]] = ()

    def body(self) -> bytes:
        """Give the body; raise UnsupportedMediaType where it is not said to be JSON."""
        request = self.request._request
        if request.content_type != JSON:
            raise UnsupportedMediaType(request.content_type or "none", "The body must be application/json.")
        try:
            return request.body
        except (UnreadablePostError, RawPostDataException) as error:
            raise ParseError("The body could not be read.") from error

    def query(self) -> dict[str, str]:
        """Give the query parameters; raise Invalid for one that is unknown, sent twice, or cannot be text."""
        given = self.request.query_params
        for name, values in given.lists():
            if name not in self.parameters and name not in PAGING:
                raise Invalid.at(f"?{name[:PAGE_SIZE_MAX]}", "is not a parameter of this call")
            if len(values) > 1:
                raise Invalid.at(f"?{name}", "is given twice")
        return {name: str(value) for name, value in given.dict().items() if value}


def buyer_of(request: Request) -> str:
    """Give who calls; the view's permissions have made sure that somebody does."""
    caller = caller_of(request)
    assert caller is not None, "a permission lets only callers pass"
    return caller.buyer


def respond(document: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Encode a document."""
    return HttpResponse(encoder.encode(document), status=status, content_type=JSON, headers=headers)


def page(
    request: Request,
    rows: QuerySet[Row],
    *,
    key: str,
    query: Mapping[str, str],
    read_cursor: Callable[[str], Any],  # gives a value of the key
    newest_first: bool = False,
) -> tuple[Sequence[Row], str | None]:
    """Give a page of rows ordered by a unique key, and the address of the next one, None after the last.

    The cursor is the last key of the page before: rows that come or go meanwhile shift nothing.
    """
    size = _page_size(query.get("page_size"))
    if "cursor" in query:
        try:
            cursor = read_cursor(query["cursor"])
        except ValueError:
            raise Invalid.at("?cursor", "is not a cursor of this list") from None
        rows = rows.filter(**{f"{key}__{'lt' if newest_first else 'gt'}": cursor})
    found = list(rows[: size + 1])
    if len(found) <= size:
        return found, None
    parameters = dict(query) | {"cursor": str(getattr(found[size - 1], key))}
    return found[:size], f"{request.build_absolute_uri(request.path)}?{urlencode(parameters)}"


def _page_size(text: str | None) -> int:
    if text is None:
        return PAGE_SIZE_DEFAULT
    size = int(text) if re.fullmatch("[0-9]{1,3}", text) else 0
    if not 1 <= size <= PAGE_SIZE_MAX:
        raise Invalid.at("?page_size", f"must be 1 to {PAGE_SIZE_MAX}")
    return size
