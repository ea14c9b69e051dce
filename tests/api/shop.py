"""A product on sale, and what callers send: bodies as they travel, answers as they come."""

import json
import uuid
from typing import Any

from django.test import Client

from tests.races import sale

ORDERS = "/api/v1/orders/"
PRODUCTS = "/api/v1/products/"

# What the test client answers with: a response with `json()`.
Answer = Any


def open_sale(sku: str = "tee", *, stock: int = 5, **product: Any) -> str:  # the fields of a product
    """Make a product without a limit per buyer, seed its stock, and give its sku."""
    return sale.open_sale(sku, total=stock, **{"name": "Tee"} | product)


def basket(sku: str = "tee", quantity: Any = 1, **members: Any) -> dict[str, Any]:  # JSON values, also wrong ones
    """Make the body of an order of one line, with a request_id of its own unless one is given."""
    return {"request_id": str(uuid.uuid4()), "lines": [{"product": sku, "quantity": quantity}]} | members


def post(client: Client, path: str, body: Any, **headers: str) -> Answer:  # a JSON value, or bytes as they travel
    """Send a body; headers are named with underscores."""
    return _send(client, "POST", path, body, headers)


def patch(client: Client, path: str, body: Any, **headers: str) -> Answer:  # as above
    """Send changes."""
    return _send(client, "PATCH", path, body, headers)


def put(client: Client, path: str, body: Any, **headers: str) -> Answer:  # as above
    """Send a replacement."""
    return _send(client, "PUT", path, body, headers)


def buy(client: Client, body: Any, **headers: str) -> Answer:  # as above
    """Send an order."""
    return post(client, ORDERS, body, **headers)


def refusal(answer: Answer) -> tuple[int, str]:
    """Give the status and the code of a problem document."""
    assert answer["Content-Type"] == "application/problem+json", answer.content
    document = answer.json()
    assert document["status"] == answer.status_code
    return answer.status_code, document["code"]


def pointers(answer: Answer) -> list[str]:
    """Give the places that are named as wrong."""
    assert refusal(answer) == (400, "invalid")
    return [error["pointer"] for error in answer.json()["errors"]]


def _send(client: Client, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:  # as above
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    dashed = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.generic(method, path, data, content_type="application/json", headers=dashed)
