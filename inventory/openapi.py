"""Pieces that several operations of the OpenAPI document share."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from inventory.api import JSON, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX
from inventory.models import SKU_LENGTH_MAX


def schema(name: str) -> dict[str, str]:
    """Refer to a component that `config.schema` makes from the type of that name."""
    return {"$ref": f"#/components/schemas/{name}"}


def body(name: str) -> dict[str, dict[str, str]]:
    """Refer to a body that is JSON."""
    return {JSON: schema(name)}


def _header(name: str, description: str, *, in_response: bool = False) -> OpenApiParameter:
    return OpenApiParameter(
        name, OpenApiTypes.STR, OpenApiParameter.HEADER, description=description, response=in_response
    )


SKU = OpenApiParameter(
    "sku",
    {"type": "string", "minLength": 1, "maxLength": SKU_LENGTH_MAX, "pattern": "^[A-Za-z0-9._-]+$"},
    OpenApiParameter.PATH,
)
CURSOR = OpenApiParameter("cursor", OpenApiTypes.STR, description="From the `next` of the page before.")
PAGE_SIZE = OpenApiParameter(
    "page_size", {"type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE_DEFAULT}
)
PAGES = [CURSOR, PAGE_SIZE]
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": '^"?[A-Za-z0-9._~:-]{1,128}"?$'},
    OpenApiParameter.HEADER,
    description="The request_id, instead of the body's; both given must agree.",
)
IF_MATCH = _header("If-Match", "The ETag of the stock, once it has been seeded.")
IF_NONE_MATCH = _header("If-None-Match", "An ETag that is known.")
ETAG = _header("ETag", "The version of what is shown.", in_response=True)
LOCATION = _header("Location", "The address of what was created.", in_response=True)
REPLAYED = _header("Idempotent-Replayed", "`true` where an earlier call had done it.", in_response=True)
