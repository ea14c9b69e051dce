"""The WSGI application of Fairdrop."""

import io
import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_wsgi_application()

from django.conf import settings  # noqa: E402 - settings are read when the application is made


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:  # as PEP 3333 has it
    """Give Django a body of known length.

    A chunked body has none, and Django would take it for empty. It is read here, up to one byte more than is allowed:
    BodyLimitMiddleware then refuses it.
    """
    if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        bytes_max = max(settings.BODY_BYTES_MAX, settings.ADMIN_BODY_BYTES_MAX)
        body = environ["wsgi.input"].read(bytes_max + 1)
        environ |= {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
    return django_application(environ, start_response)
