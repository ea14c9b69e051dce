"""What all views of the API share: bodies as bytes, documents as JSON, checked parameters, ETags, pages by keyset."""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode

import msgspec
from django.core.exceptions import TooManyFieldsSent
from django.db import connection
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.http.request import RawPostDataException, UnreadablePostError
from django.utils.http import parse_etags
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from access.caller import caller_of
from inventory.exceptions import Invalid

JSON = "application/json"
PAGE_SIZE_DEFAULT = 50
PAGE_SIZE_MAX = 200
PAGING = ("cursor", "page_size")
#: What is shown of a parameter's name that a caller made up.
NAME_SHOWN_MAX = 64
ETAG_DIGEST_BYTES = 16
ANY_ETAG = "*"

Row = TypeVar("Row", bound=Model)
_encoder = msgspec.json.Encoder()


class JsonView(APIView):
    """A view whose bodies are parsed by msgspec, once, and whose answers are encoded by it.

    There is one form of each answer, so Accept is not looked at, as RFC 9110 (section 12.5.1) allows: an order is never
    lost to a header.
    """

    #: Query parameters of GET; no other call has any.
    parameters: ClassVar[Collection[str]] = ()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:  # from the URL
        """Give the connection back before the answer travels: a slow client holds none."""
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            if not connection.in_atomic_block:
                connection.close()

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[BaseRenderer, str]:
        """Give the one form there is."""
        return self.get_renderers()[0], JSON

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:  # from the URL
        """Authenticate, check permission, throttle; then refuse what the query string should not have."""
        super().initial(request, *args, **kwargs)
        if request.META.get("QUERY_STRING") and request.method in self.allowed_methods:
            self._check_query(request)

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
        """Give the query parameters of a GET."""
        return self.request.query_params.dict()

    def _check_query(self, request: Request) -> None:
        """Raise Invalid for a parameter that this call does not have, or that is given twice."""
        known = self.parameters if request.method in ("GET", "HEAD") else ()
        try:
            given = list(request.query_params.lists())
        except TooManyFieldsSent as error:
            raise Invalid.at("?", "has too many parameters") from error
        for name, values in given:
            if name not in known:
                raise Invalid.at(f"?{name[:NAME_SHOWN_MAX]}", "is not a parameter of this call")
            if len(values) > 1:
                raise Invalid.at(f"?{name}", "is given twice")


def buyer_of(request: Request) -> str:
    """Give who calls; the view's permissions have made sure that somebody does."""
    caller = caller_of(request)
    assert caller is not None, "a permission lets only callers pass"
    return caller.buyer


def respond(document: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Encode a document. Nobody on the way keeps it, unless the headers say otherwise."""
    caching = {"Cache-Control": "no-store"}
    return HttpResponse(encode(document), status=status, content_type=JSON, headers=caching | dict(headers or {}))


def respond_if_changed(request: Request, document: object) -> HttpResponse:
    """Encode a document with its ETag, or answer 304 to who has it already; who keeps it has to ask again."""
    etag = etag_of(document)
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    known = parse_etags(request.META.get("HTTP_IF_NONE_MATCH", ""))
    if ANY_ETAG in known or etag in {tag.removeprefix("W/") for tag in known}:
        return HttpResponseNotModified(headers=headers)
    return respond(document, headers=headers)


def etag_of(document: object) -> str:
    """Give the strong ETag of a document: a digest of what is sent."""
    return f'"{hashlib.blake2b(encode(document), digest_size=ETAG_DIGEST_BYTES).hexdigest()}"'


def if_match(request: Request) -> list[str] | None:
    """Give the ETags of If-Match, None without the header; raise Invalid where it has none.

    A weak one is given as it is sent: it equals no strong one (RFC 9110, section 13.1.1).
    """
    header = request.META.get("HTTP_IF_MATCH")
    if header is None:
        return None
    etags = parse_etags(header)
    if not etags:
        raise Invalid.at("If-Match", 'must be ETags in double quotes, such as "3", or *')
    return etags


def encode(document: object) -> bytes:
    """Encode a document as JSON: decimals as strings, times as RFC 3339 in UTC."""
    return _encoder.encode(document)


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

    The cursor is the last key of the page before: rows that come or go meanwhile shift nothing. The address has no
    host, as Location has none: it holds behind any proxy.
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
    return found[:size], f"{request.path}?{urlencode(parameters)}"


def _page_size(text: str | None) -> int:
    if text is None:
        return PAGE_SIZE_DEFAULT
    size = int(text) if re.fullmatch("[0-9]{1,3}", text) else 0
    if not 1 <= size <= PAGE_SIZE_MAX:
        raise Invalid.at("?page_size", f"must be 1 to {PAGE_SIZE_MAX}")
    return size
