"""The WSGI application of Fairdrop."""

import os
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_wsgi_application()

from django.conf import settings  # noqa: E402 - they are read when the application is made
from django.urls import get_resolver  # noqa: E402 - it needs the settings

from config import bodies  # noqa: E402 - it needs the settings
from orders.bounded import answers_by  # noqa: E402 - it needs the settings

# Views and what they import are loaded now, not by the first buyers of a sale.
assert get_resolver().url_patterns


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:  # as PEP 3333 has it
    """Answer a request; nothing in it waits for ever for PostgreSQL."""
    environ = bodies.with_length(environ)
    with answers_by(monotonic() + settings.DATABASE_ANSWER_SECONDS):
        return django_application(environ, start_response)
