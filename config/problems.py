"""Problem documents (RFC 9457): the only place that knows the HTTP status of an error."""

import logging
import uuid
from typing import Any

import msgspec
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions as drf
from rest_framework.request import Request

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
_CODES_BY_ERROR: list[tuple[type[Exception], str]] = [
    (drf.NotAuthenticated, "not_authenticated"),
    (drf.AuthenticationFailed, "not_authenticated"),
    (drf.PermissionDenied, "permission_denied"),
    (PermissionDenied, "permission_denied"),
    (drf.NotFound, "not_found"),
    (Http404, "not_found"),
    (drf.MethodNotAllowed, "method_not_allowed"),
    (drf.NotAcceptable, "not_acceptable"),
    (drf.UnsupportedMediaType, "unsupported_media_type"),
    (drf.Throttled, "throttled"),
    (drf.APIException, "invalid"),
]


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse | None:  # the signature is DRF's
    """Answer an exception of a view; None for one that nobody foresaw, which then is a 500."""
    request = context["request"]
    if isinstance(error, Refusal):
        return refused(request, error)
    if isinstance(error, OperationalError | InterfaceError):
        return unavailable(request, error)
    code = next((code for kind, code in _CODES_BY_ERROR if isinstance(error, kind)), None)
    if code is None:
        return None
    response = problem(request, code, detail=_detail(error))
    if (wait := getattr(error, "wait", None)) is not None:
        response["Retry-After"] = str(max(1, int(wait)))
    if challenge := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = challenge
    return response


def refused(request: HttpRequest | Request, refusal: Refusal) -> HttpResponse:
    """Answer a refusal: its sentence, its members, and when to come back."""
    members = {"retryable": refusal.retryable} | refusal.members()
    response = problem(request, refusal.code, detail=refusal.sentence, **members)
    if refusal.retry_after_seconds is not None:
        response["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def unavailable(request: HttpRequest | Request, error: Exception) -> HttpResponse:
    """Answer while the database cannot be used."""
    logger.warning("the database cannot be used: %s", error)
    response = problem(request, "busy", detail="The database cannot be reached: repeat the request.")
    response["Retry-After"] = str(BUSY_RETRY_SECONDS)
    return response


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
        "instance": _instance(request),
        "retryable": code in RETRYABLE,
    }
    body = msgspec.json.encode(document | members)
    return HttpResponse(body, status=status, content_type=CONTENT_TYPE, headers={"Content-Length": str(len(body))})


def _type_of(request: HttpRequest | Request, code: str) -> str:
    """Give the address of the page about a code; without the host where the host is what is wrong."""
    path = f"/problems/{code}"
    return path if code == "invalid" and getattr(request, "has_bad_host", False) else request.build_absolute_uri(path)


def _instance(request: HttpRequest | Request) -> str:
    """Name this occurrence by the request's id, which stands in the log as well."""
    request_id = str(getattr(request, "id", "") or uuid.uuid4())
    try:
        return f"urn:uuid:{uuid.UUID(request_id)}"
    except ValueError:
        return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, request_id)}"


def _detail(error: Exception) -> str | None:
    """Give the sentence that DRF has for an error."""
    detail = getattr(error, "detail", None)
    return str(detail) if isinstance(detail, str) else None
