"""The limits of bodies, and bodies whose length nobody has said."""

import io
from typing import Any

from django.conf import settings

from config.admin_only import is_admin_path

WITHOUT_BODY = {"GET", "HEAD", "OPTIONS"}


def bytes_max_of(path: str) -> int:
    """Give the limit of a body sent to a path."""
    return settings.ADMIN_BODY_BYTES_MAX if is_admin_path(path) else settings.BODY_BYTES_MAX


def with_length(environ: dict[str, Any]) -> dict[str, Any]:  # as PEP 3333 has it
    """Read a body of unknown length (chunked, or HTTP/2 without Content-Length), which Django would take for empty.

    One byte more than is allowed is read, and BodyLimitMiddleware then refuses it. Nothing has asked the database yet:
    a client that sends slowly holds a thread, and no connection.
    """
    if environ.get("CONTENT_LENGTH") or environ["REQUEST_METHOD"] in WITHOUT_BODY:
        return environ
    body = environ["wsgi.input"].read(bytes_max_of(environ["PATH_INFO"]) + 1)
    return environ | {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
