"""Sessions, CSRF protection and messages for the admin alone: the API has none of them to pay for."""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseForbidden
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.deprecation import MiddlewareMixin

ADMIN = "/admin/"


def is_admin_path(path: str) -> bool:
    """Tell whether a path is the admin's."""
    return path.startswith(ADMIN)


class _AdminOnly(MiddlewareMixin):
    """Step in on the admin's paths alone."""

    def __call__(self, request: HttpRequest) -> Any:  # as MiddlewareMixin has it
        """Pass the rest through."""
        if is_admin_path(request.path_info):
            return super().__call__(request)
        return self.get_response(request)


class AdminSessionMiddleware(_AdminOnly, SessionMiddleware):
    """Sessions for the admin."""


class AdminCsrfMiddleware(_AdminOnly, CsrfViewMiddleware):
    """CSRF protection for the admin; the API takes no cookie."""

    # What Django calls it with is passed on as it is.
    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponseForbidden | None:
        """Check the admin's forms."""
        return super().process_view(request, *args) if is_admin_path(request.path_info) else None


class AdminAuthenticationMiddleware(_AdminOnly, AuthenticationMiddleware):
    """Users for the admin."""


class AdminMessageMiddleware(_AdminOnly, MessageMiddleware):
    """Messages for the admin."""


class AdminFrameMiddleware(_AdminOnly, XFrameOptionsMiddleware):
    """No frames around the admin."""
