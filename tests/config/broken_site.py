"""The site, with views that raise whatever a test asks for: under the API, and beside it."""

from typing import NoReturn

import psycopg
import psycopg_pool
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest
from django.urls import path
from rest_framework import exceptions as drf
from rest_framework.request import Request
from rest_framework.views import APIView

from config.urls import urlpatterns as product

SECRET = "a secret of another buyer"
ERRORS: dict[str, Exception] = {
    "unforeseen": ZeroDivisionError(SECRET),
    "broken": AssertionError(SECRET),
    "deep": RecursionError(SECRET),
    "database": OperationalError(SECRET),
    "connection": InterfaceError(SECRET),
    "driver": psycopg.OperationalError(SECRET),
    "pool": psycopg_pool.PoolTimeout(SECRET),
    "missing": Http404(SECRET),
    "forbidden": PermissionDenied(SECRET),
    "suspicious": SuspiciousOperation(SECRET),
    "bad": BadRequest(SECRET),
    "large": RequestDataTooBig(SECRET),
    "server": drf.APIException(),
    "throttled": drf.Throttled(wait=1.2),
    "fields": drf.ValidationError({"lines": [{"a/b": ["is wrong"]}, {}], "x~y": ["is odd", "is even"]}),
    "text": drf.ValidationError("is wrong"),
}


class Broken(APIView):
    """A view of the API that fails."""

    permission_classes = ()

    def get(self, request: Request, name: str) -> NoReturn:
        """Raise the error of a name."""
        raise ERRORS[name]


def broken(request: HttpRequest, name: str) -> NoReturn:
    """Raise the error of a name, beside the API."""
    raise ERRORS[name]


class BrokenMiddleware:
    """A middleware that fails before any view is asked."""

    def __init__(self, get_response: object) -> None:
        """Need nothing that comes next."""

    def __call__(self, request: HttpRequest) -> NoReturn:
        """Raise."""
        raise ERRORS["unforeseen"]


urlpatterns = [
    path("api/v1/broken/<str:name>/", Broken.as_view()),
    path("admin/broken/<str:name>/", broken),
    path("broken/<str:name>/", broken),
    *product,
]
