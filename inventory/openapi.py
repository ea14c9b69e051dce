"""Pieces that several operations of the OpenAPI document share."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter

from inventory.api import JSON, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX

#: Codes of what calls of staff refuse, of what all bodies are refused for, and of what a request_id can lack.
OF_STAFF = ("not_authenticated", "permission_denied")
OF_BODIES = ("unsupported_media_type", "payload_too_large")
OF_REQUEST_IDS = ("request_id_missing", "request_id_invalid", "request_id_conflict")
# Any: security requirements, which drf-spectacular passes through, but types as strings.
NO_TOKEN_NEEDED: Any = [{}, {"token": []}]


def schema(name: str) -> dict[str, str]:
    """Refer to a component that `config.schema` makes from the type of that name."""
    return {"$ref": f"#/components/schemas/{name}"}


def body(name: str) -> dict[str, dict[str, str]]:
    """Refer to a body that is JSON."""
    return {JSON: schema(name)}


def sent(name: str, value: Any) -> OpenApiExample:  # a JSON value
    """Show a body."""
    return OpenApiExample(name, value=value, request_only=True)


def answered(name: str, value: Any, *, status: int = 200) -> OpenApiExample:  # a JSON value
    """Show an answer."""
    return OpenApiExample(name, value=value, response_only=True, status_codes=[str(status)])


def _asked(name: str, description: str, schema: dict[str, str]) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.HEADER, description=description)


def _told(name: str, description: str, *statuses: int) -> OpenApiParameter:
    """Describe a header of these answers."""
    return OpenApiParameter(
        name,
        OpenApiTypes.STR,
        OpenApiParameter.HEADER,
        description=description,
        response=list(statuses),
    )


SKU = OpenApiParameter("sku", {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"}, OpenApiParameter.PATH)
CURSOR = OpenApiParameter(
    "cursor",
    {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    description="From the `next` of the page before.",
)
PAGE_SIZE = OpenApiParameter(
    "page_size", {"type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE_DEFAULT}
)
PAGES = [CURSOR, PAGE_SIZE]
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": '^([A-Za-z0-9._~:-]{1,128}|"[A-Za-z0-9._~:-]{1,128}")$'},
    OpenApiParameter.HEADER,
    description="The request_id, instead of the body's; both given must agree.",
)
_TEXT = {"type": "string"}
_ETAGS = {"type": "string", "pattern": '^(\\*|(W/)?"[A-Za-z0-9]{1,64}"(, (W/)?"[A-Za-z0-9]{1,64}")*)$'}
IF_MATCH_STOCK = _asked(
    "If-Match", "The ETag of the stock; needed once it has been seeded. `*` for whatever it is.", _ETAGS
)
IF_MATCH_PRODUCT = _asked("If-Match", "Change the product only while it still has this ETag.", _ETAGS)
IF_NONE_MATCH = _asked("If-None-Match", "ETags that are known: 304 if one of them is still right.", _TEXT)
ETAG_OF_DOCUMENT = _told("ETag", "Changes with the document.", 200, 304)
ETAG_OF_STOCK = _told("ETag", "The version of the stock, for If-Match.", 200)
LOCATION = _told("Location", "The address of what was made.", 201)
REPLAYED = _told("Idempotent-Replayed", "`true` where an earlier call had done it.", 200, 201)

PRODUCT = {
    "sku": "tee-red",
    "name": "Red tee",
    "description": "",
    "price": "19.90",
    "currency": "EUR",
    "limit": 1,
    "hold_seconds": 900,
    "opens_at": "2030-05-01T18:00:00Z",
    "closes_at": None,
    "admission": "direct",
    "active": True,
    "available": 10,
    "held": 0,
}
MOVEMENT = {
    "product": "tee-red",
    "seq": 2,
    "kind": "adjusted",
    "delta": -2,
    "balance_after": 8,
    "reason": "damaged",
    "actor": "staff001",
    "request_id": "8e03978e-40d5-43e8-bc93-6894a57f9324",
    "order": None,
    "created_at": "2030-04-30T09:00:00Z",
    "previous_hash": "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
    "hash": "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
}
