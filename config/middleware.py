"""What happens around every view: an id, a problem document for every error, a bound for every body."""

import logging
import re
import uuid
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.urls import is_valid_path

from config import problems
from config.admin_only import ADMIN
from config.request_id import request_id

logger = logging.getLogger(__name__)

GetResponse = Callable[[HttpRequest], HttpResponse]
HEADER = "X-Request-ID"
REQUEST_ID = re.compile(r"[A-Za-z0-9._~:+/=-]{1,128}\Z")


class RequestIdMiddleware:
    """Echo X-Request-ID, or make one."""

    def __init__(self, get_response: GetResponse) -> None:
        """Keep what comes next."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Give the request its id, and the response too."""
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request.id = given if REQUEST_ID.match(given) else str(uuid.uuid4())  # type: ignore[attr-defined]  # ours
        token = request_id.set(request.id)  # type: ignore[attr-defined]  # ours
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(token)
        response[HEADER] = request.id  # type: ignore[attr-defined]  # ours
        return response


class ProblemMiddleware:
    """Make every error a problem document, also one that no view has raised. The admin keeps its pages."""

    def __init__(self, get_response: GetResponse) -> None:
        """Keep what comes next."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Replace an error's page by a problem document, and keep its headers."""
        response = self.get_response(request)
        if response.status_code < 400 or request.path_info.startswith(ADMIN):
            return response
        if response.get("Content-Type") == problems.CONTENT_TYPE:
            return response
        return self._problem(request, response)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer what no view has caught."""
        if isinstance(error, OperationalError | InterfaceError):
            return problems.unavailable(request, error)
        if request.path_info.startswith(ADMIN) or isinstance(error, DisallowedHost):
            return None
        logger.error("%s %s failed", request.method, request.path_info, exc_info=error)
        return problems.problem(request, "internal_error")

    def _problem(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        code = problems.CODES_BY_STATUS.get(response.status_code, "internal_error")
        request.has_bad_host = _has_bad_host(request)  # type: ignore[attr-defined]  # ours
        answer = problems.problem(request, code, detail=_missing_slash(request) if code == "not_found" else None)
        for name in ("Allow", "Retry-After", "WWW-Authenticate", "Vary"):
            if name in response:
                answer[name] = response[name]
        return answer


def _has_bad_host(request: HttpRequest) -> bool:
    try:
        request.get_host()
    except DisallowedHost:
        return True
    return False


def _missing_slash(request: HttpRequest) -> str | None:
    """Say what is missing; a redirect would lose the body of a POST."""
    path = request.path_info
    return f"Not found: the path ends with a slash, {path}/" if is_valid_path(f"{path}/") else None


class BodyLimitMiddleware:
    """Refuse a body over BODY_BYTES_MAX (in the admin ADMIN_BODY_BYTES_MAX) before anything reads it."""

    def __init__(self, get_response: GetResponse) -> None:
        """Keep what comes next."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Compare the length that the server has vouched for."""
        is_admin = request.path_info.startswith(ADMIN)
        bytes_max = settings.ADMIN_BODY_BYTES_MAX if is_admin else settings.BODY_BYTES_MAX
        if _length(request) > bytes_max:
            return problems.problem(request, "payload_too_large", detail=f"A body has at most {bytes_max} bytes.")
        return self.get_response(request)


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
