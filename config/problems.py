"""Problem documents (RFC 9457): the only place that knows the HTTP status of an error."""

import logging
import math
import uuid
from collections.abc import Iterator
from typing import Any

import msgspec
import psycopg
from django.core.exceptions import BadRequest, DisallowedHost, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions as drf
from rest_framework.request import Request

from config.request_id import request_id
from inventory.exceptions import Refusal

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
BUSY_RETRY_SECONDS = 1

#: Status and title by code.
PROBLEMS: dict[str, tuple[int, str]] = {
    "invalid": (400, "The request is not valid"),
    "request_id_missing": (400, "A request_id is needed"),
    "request_id_invalid": (400, "The request_id is malformed"),
    "request_id_conflict": (400, "Two request_ids differ"),
    "unknown_product": (400, "No such product on sale"),
    "not_authenticated": (401, "A valid token is needed"),
    "permission_denied": (403, "Not allowed"),
    "not_found": (404, "Not found"),
    "method_not_allowed": (405, "Method not allowed"),
    "not_acceptable": (406, "No acceptable form of the answer"),
    "insufficient_stock": (409, "Not that many units are there"),
    "price_changed": (409, "The price has changed"),
    "purchase_limit": (409, "Over the limit per buyer"),
    "request_in_progress": (409, "The same request is still running"),
    "sale_not_open": (409, "The sale is not open"),
    "sku_taken": (409, "The sku is taken"),
    "sold_out": (409, "Sold out"),
    "precondition_failed": (412, "It has changed meanwhile"),
    "payload_too_large": (413, "The body is too large"),
    "unsupported_media_type": (415, "The body must be JSON"),
    "request_id_reused": (422, "The request_id was used with other content"),
    "precondition_required": (428, "If-Match is needed"),
    "throttled": (429, "Too many requests"),
    "headers_too_large": (431, "The headers are too large"),
    "internal_error": (500, "Internal error"),
    "busy": (503, "Busy"),
}
#: Codes of the errors that come without a code: from Django, or from a middleware.
CODES_BY_STATUS = {
    400: "invalid",
    401: "not_authenticated",
    403: "permission_denied",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "payload_too_large",
    415: "unsupported_media_type",
    429: "throttled",
    431: "headers_too_large",
    503: "busy",
}
RETRYABLE = {"throttled", "busy", "request_in_progress"}
#: The database cannot be used: Django's errors, and psycopg's own from where Django does not stand between (the pool).
UNAVAILABLE = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
# The order matters: RequestDataTooBig is a SuspiciousOperation.
_CODES_BY_ERROR: list[tuple[type[Exception], str]] = [
    (Http404, "not_found"),
    (PermissionDenied, "permission_denied"),
    (RequestDataTooBig, "payload_too_large"),
    (SuspiciousOperation, "invalid"),
    (BadRequest, "invalid"),
    (MultiPartParserError, "invalid"),
    (UnreadablePostError, "invalid"),
]


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse | None:  # the signature is DRF's
    """Answer an exception of a view of the API; None for one that nobody foresaw, which then is a 500."""
    return answer(context["request"], error)


def answer(request: HttpRequest | Request, error: Exception) -> HttpResponse | None:
    """Answer an exception; None for one that nobody foresaw."""
    if isinstance(error, Refusal):
        return refused(request, error)
    if isinstance(error, UNAVAILABLE):
        return _unavailable(request, error)
    if isinstance(error, drf.APIException):
        return _of_framework(request, error)
    code = next((code for kind, code in _CODES_BY_ERROR if isinstance(error, kind)), None)
    return None if code is None else problem(request, code)


def refused(request: HttpRequest | Request, refusal: Refusal) -> HttpResponse:
    """Answer a refusal: its sentence, its members, and when to come back."""
    members = {"retryable": refusal.retryable} | refusal.members()
    response = problem(request, refusal.code, detail=refusal.sentence, **members)
    if refusal.retry_after_seconds is not None:
        response["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def failed(request: HttpRequest | Request, error: Exception) -> HttpResponse:
    """Answer an exception that nobody foresaw: the log has it all, the caller only the way to find it there."""
    logger.error("%s %s failed", request.method, request.path_info, exc_info=error)
    return problem(
        request, "internal_error", detail="Something broke. What became of the request is unknown: repeat it."
    )


def _unavailable(request: HttpRequest | Request, error: Exception) -> HttpResponse:
    logger.warning("the database cannot be used: %s", error)
    response = problem(request, "busy", detail="The database cannot be reached: repeat the request.")
    response["Retry-After"] = str(BUSY_RETRY_SECONDS)
    return response


def _of_framework(request: HttpRequest | Request, error: drf.APIException) -> HttpResponse:
    """Answer what DRF raises."""
    code = CODES_BY_STATUS.get(error.status_code, "internal_error")
    if isinstance(error, drf.ValidationError):
        return problem(request, code, errors=list(_errors(error.detail)))
    response = problem(request, code, detail=str(error.detail) if isinstance(error.detail, str) else None)
    if (wait := getattr(error, "wait", None)) is not None:
        response["Retry-After"] = str(max(1, math.ceil(wait)))
    if challenge := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = challenge
    return response


def _errors(detail: Any, pointer: str = "") -> Iterator[dict[str, str]]:  # detail: lists and dicts of texts, nested
    """Flatten the details of DRF's ValidationError: each text with a JSON pointer to its place."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _errors(inner, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            yield from _errors(inner, pointer if isinstance(inner, str) else f"{pointer}/{position}")
    else:
        yield {"pointer": pointer, "detail": str(detail)}


def problem(
    request: HttpRequest | Request,
    code: str,
    *,
    detail: str | None = None,
    **members: Any,  # JSON values
) -> HttpResponse:
    """Make the problem document of a code."""
    status, title = PROBLEMS[code]
    document = {
        "type": _type_of(request, code),
        "title": title,
        "status": status,
        "code": code,
        "detail": detail or f"{title}.",
        "instance": _instance(),
        "retryable": code in RETRYABLE,
    }
    body = msgspec.json.encode(document | members)
    headers = {"Content-Length": str(len(body)), "Cache-Control": "no-store"}
    return HttpResponse(body, status=status, content_type=CONTENT_TYPE, headers=headers)


def _type_of(request: HttpRequest | Request, code: str) -> str:
    """Give the address of the page about a code; without the host where the host is what is wrong."""
    path = f"/problems/{code}"
    try:
        return request.build_absolute_uri(path)
    except DisallowedHost:
        return path


def _instance() -> str:
    """Name this occurrence by the request's id, which stands in the log as well."""
    name = request_id.get()
    if name is None:
        return f"urn:uuid:{uuid.uuid4()}"
    try:
        return f"urn:uuid:{uuid.UUID(name)}"
    except ValueError:
        return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, name)}"
