"""Pieces of the OpenAPI document that the operations on orders share."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter

from access.caller import ANY_BUYER, BUYER_LENGTH_MAX
from orders.models import Order

_REQUEST_ID = {"type": "string", "pattern": "^[A-Za-z0-9._~:-]{1,128}$"}

REQUEST_ID = OpenApiParameter("request_id", _REQUEST_ID, OpenApiParameter.PATH)
BUYER = OpenApiParameter(
    "buyer",
    {"type": "string", "minLength": 1, "maxLength": BUYER_LENGTH_MAX},
    description=f"Another buyer, in printable characters; needs the scope `{ANY_BUYER}`.",
)
FILTERS = [
    OpenApiParameter("request_id", _REQUEST_ID),
    OpenApiParameter("status", {"type": "string", "enum": Order.Status.values}),
    OpenApiParameter("product", {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"}, description="A sku."),
    BUYER,
]

ORDER_BODY: dict[str, Any] = {
    "request_id": "8e03978e-40d5-43e8-bc93-6894a57f9324",
    "lines": [{"product": "tee-red", "quantity": 1}],
    "expected_total": "19.90",
}
ORDER: dict[str, Any] = {
    "id": "0198c1f2-7d5b-7c3e-9a41-5f2b8e6d0c77",
    "request_id": ORDER_BODY["request_id"],
    "buyer": "user001",
    "status": "reserved",
    "lines": [{"product": "tee-red", "quantity": 1, "unit_price": "19.90"}],
    "total": "19.90",
    "currency": "EUR",
    "created_at": "2030-05-01T18:00:00.084512Z",
    "expires_at": "2030-05-01T18:15:00.084512Z",
    "confirmed_at": None,
    "cancelled_at": None,
    "expired_at": None,
}
