"""What happens around every view: an id, a problem document for every error, a bound for every body."""

import re
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import is_valid_path

from config import pages, problems
from config.admin_only import is_admin_path
from config.bodies import bytes_max_of
from config.request_id import request_id

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
        name = given if REQUEST_ID.match(given) else str(uuid.uuid4())
        token = request_id.set(name)
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(token)
        response[HEADER] = name
        return response


class ProblemMiddleware:
    """Make every error a problem document, also one that no view has raised. The admin keeps its pages."""

    def __init__(self, get_response: GetResponse) -> None:
        """Keep what comes next."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Replace an error's page by a problem document, and keep its headers."""
        response = self.get_response(request)
        if response.status_code < 400 or response.get("Content-Type") == problems.CONTENT_TYPE:
            return response
        if is_admin_path(request.path_info):
            return response
        return _as_problem(request, response)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer what no view has caught."""
        if is_admin_path(request.path_info) and not isinstance(error, problems.UNAVAILABLE):
            return None
        answer = problems.answer(request, error) or problems.failed(request, error)
        return pages.unavailable(request, answer) if _is_read_by_staff(request) else answer


def _is_read_by_staff(request: HttpRequest) -> bool:
    """Tell whether a person looks at the admin with a browser: a page says more than a document."""
    return is_admin_path(request.path_info) and "text/html" in request.headers.get("Accept", "")


def _as_problem(request: HttpRequest, page: HttpResponse) -> HttpResponse:
    code = problems.CODES_BY_STATUS.get(page.status_code, "internal_error")
    response = problems.problem(request, code, detail=_missing_slash(request) if code == "not_found" else None)
    for name, value in page.items():
        response.headers.setdefault(name, value)
    return response


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
        bytes_max = bytes_max_of(request.path_info)
        if _length(request) > bytes_max:
            return problems.problem(request, "payload_too_large", detail=f"A body has at most {bytes_max} bytes.")
        return self.get_response(request)


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


class PagePolicyMiddleware:
    """Tell browsers that pages load nothing from elsewhere, run no script of their own text, and stand in no frame."""

    POLICY = (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )

    def __init__(self, get_response: GetResponse) -> None:
        """Keep what comes next."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the policy (CSP level 3) to what is HTML."""
        response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response["Content-Security-Policy"] = self.POLICY
        return response
