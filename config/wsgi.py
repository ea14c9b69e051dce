"""The WSGI application of Fairdrop."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_wsgi_application()

from django.urls import get_resolver  # noqa: E402 - it needs the settings, which are read when the application is made

from config import bodies  # noqa: E402 - the same

# Views and what they import are loaded now, not by the first buyers of a sale.
assert get_resolver().url_patterns


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:  # as PEP 3333 has it
    """Answer a request."""
    return django_application(bodies.with_length(environ), start_response)
