"""The OpenAPI document: problems by their codes, documents and bodies from the types that encode and decode them."""

from collections import defaultdict
from typing import Any

import msgspec
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from access.schema import ATTRIBUTE
from config.problems import CONTENT_TYPE, PROBLEMS
from inventory.documents import TYPES as INVENTORY_TYPES
from orders.documents import TYPES as ORDER_TYPES

#: What any operation may answer.
ALWAYS = ("invalid", "internal_error", "busy")
POINTER = "A JSON pointer into the body, or the name of a parameter (`?status`) or of a header (`If-Match`)."
PROBLEM_SCHEMA = {
    "type": "object",
    "description": "RFC 9457. Further members depend on the code.",
    "required": ["type", "title", "status", "code", "detail", "instance", "retryable"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "enum": sorted(PROBLEMS)},
        "detail": {"type": "string"},
        "instance": {"type": "string", "format": "uri"},
        "retryable": {"type": "boolean", "description": "The same request may succeed later by itself."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {"pointer": {"type": "string", "description": POINTER}, "detail": {"type": "string"}},
            },
        },
    },
}
_RETRY_AFTER: dict[str, Any] = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 1}}}
_HEADERS: dict[str, dict[str, Any]] = {
    "not_authenticated": {"WWW-Authenticate": {"schema": {"type": "string"}}},
    "throttled": _RETRY_AFTER,
    "busy": _RETRY_AFTER,
    "request_in_progress": _RETRY_AFTER,
    "sold_out": _RETRY_AFTER,
    "sale_not_open": _RETRY_AFTER,
}
#: Stands on every answer.
_REQUEST_ID = {
    "X-Request-ID": {
        "description": "The caller's, if it is 1 to 128 safe characters, or a new one; it stands in the log.",
        "schema": {"type": "string"},
    }
}


class Schema(AutoSchema):
    """Add the problems that a view's method declares."""

    def get_operation(self, *args: Any, **options: Any) -> dict[str, Any] | None:  # as drf-spectacular calls it
        """Describe one operation."""
        operation: dict[str, Any] | None = super().get_operation(*args, **options)
        if operation is not None:
            operation["responses"] |= _problem_responses(self._codes())
            for response in operation["responses"].values():
                response.setdefault("headers", {})["X-Request-ID"] = {"$ref": "#/components/headers/X-Request-ID"}
            if "requestBody" in operation:
                operation["requestBody"]["required"] = True
        return operation

    def _codes(self) -> list[str]:
        handler = getattr(self.view, self.method.lower(), None)
        return [*getattr(handler, ATTRIBUTE, ()), *ALWAYS]


def _problem_responses(codes: list[str]) -> dict[str, Any]:
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in dict.fromkeys(codes):
        by_status[PROBLEMS[code][0]].append(code)
    return {str(status): _problem_response(found) for status, found in sorted(by_status.items())}


def _problem_response(codes: list[str]) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": "; ".join(f"`{code}`: {PROBLEMS[code][1]}" for code in codes),
        "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    headers = {name: header for code in codes for name, header in _HEADERS.get(code, {}).items()}
    return response | ({"headers": headers} if headers else {})


def add_components(result: dict[str, Any], **options: Any) -> dict[str, Any]:  # as drf-spectacular calls its hooks
    """Add the schemas of documents and bodies, and of problems."""
    _, components = msgspec.json.schema_components(
        [*ORDER_TYPES, *INVENTORY_TYPES], ref_template="#/components/schemas/{name}"
    )
    # The end of a text is \Z in Python's patterns, whose $ lets a newline follow; in those of JSON Schema it is $.
    components = msgspec.json.decode(msgspec.json.encode(components).replace(rb"\\Z", b"$"))
    result["components"].setdefault("schemas", {}).update(components | {"Problem": PROBLEM_SCHEMA})
    result["components"]["headers"] = _REQUEST_ID
    return result


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped in drf-spectacular
    """Describe how callers show who they are."""

    target_class = "access.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Give the scheme."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
