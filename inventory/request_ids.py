"""The request_id of a call: from the body, or from the header Idempotency-Key."""

import re
from collections.abc import Mapping

import msgspec

from inventory.exceptions import RequestIdConflict, RequestIdInvalid, RequestIdMissing

HEADER = "Idempotency-Key"
REQUEST_ID = re.compile(r"[A-Za-z0-9._~:-]{1,128}\Z")
#: Any of the forms that UUIDs are written in with hyphens; the rest of the alphabet keeps its case.
UUID = re.compile(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\Z")


def read(in_body: object, *, in_header: str | None) -> str:
    """Give the one request_id of a call; raise RequestIdMissing, RequestIdInvalid or RequestIdConflict.

    `in_body` is the member as it was sent: None or unset is missing, anything else that does not fit is invalid.
    """
    body_id = None if in_body is None or in_body is msgspec.UNSET else _checked(in_body)
    header_id = None if in_header is None else _checked(_unquoted(in_header))
    if body_id is not None and header_id is not None and body_id != header_id:
        raise RequestIdConflict
    request_id = body_id or header_id
    if request_id is None:
        raise RequestIdMissing
    return request_id


def header_of(environ: Mapping[str, str]) -> str | None:
    """Find the header in a WSGI environment; one that was sent twice has a comma in it, and is invalid."""
    return environ.get("HTTP_IDEMPOTENCY_KEY")


def _unquoted(value: str) -> str:
    """Take off the quotes of a Structured Field string (the IETF draft's form); a bare value stays as it is."""
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value


def _checked(value: object) -> str:
    if not isinstance(value, str) or not REQUEST_ID.match(value):
        raise RequestIdInvalid
    return value.lower() if UUID.match(value) else value
