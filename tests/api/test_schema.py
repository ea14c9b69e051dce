"""The OpenAPI document: every operation described, every example true."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from django.core.management import call_command

from inventory import documents as inventory
from orders import documents as orders
from orders import intake

OPERATIONS = {
    "place_order",
    "list_orders",
    "show_order",
    "show_request",
    "list_products",
    "create_product",
    "show_product",
    "change_product",
    "show_stock",
    "seed_stock",
    "list_movements",
    "adjust_stock",
}
TYPES = {kind.__name__: kind for kind in (*inventory.TYPES, *orders.TYPES)}

Document = dict[str, Any]  # JSON


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Make the document as `make check` does: a warning is an error."""
    path = tmp_path_factory.mktemp("openapi") / "schema.json"
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", "--file", str(path))
    document: Document = json.loads(path.read_text())
    return document


@pytest.fixture
def operations(schema: Document) -> dict[str, Document]:
    """Give the operations of the API by their ids."""
    return {
        operation["operationId"]: operation
        for methods in schema["paths"].values()
        for operation in methods.values()
        if "operationId" in operation
    }


def test_every_operation_of_the_contract_is_there(schema: Document, operations: dict[str, Document]) -> None:
    """Those of this version, under stable names."""
    assert schema["openapi"].startswith("3.1")
    assert set(operations) >= OPERATIONS


def test_every_operation_says_what_it_does(operations: dict[str, Document]) -> None:
    """A summary, a sentence, and what it answers."""
    for name in OPERATIONS:
        assert operations[name]["summary"], name
        assert operations[name]["description"].rstrip().endswith("."), name
        assert {"400", "500", "503"} <= set(operations[name]["responses"]), name


def test_every_answer_and_every_body_has_a_schema_and_an_example(operations: dict[str, Document]) -> None:
    """And the example is one of what it stands for."""
    for name in OPERATIONS:
        for content in (*bodies(operations[name]), *answers(operations[name])):
            assert content["examples"], name
            for example in content["examples"].values():
                kind = TYPES[content["schema"]["$ref"].rpartition("/")[2]]
                msgspec.json.decode(json.dumps(example["value"]), type=kind)


def test_a_body_is_described_as_strictly_as_it_is_read(schema: Document) -> None:
    """No further members, and whole numbers with bounds."""
    components = schema["components"]["schemas"]

    for name in ("OrderBody", "LineBody", "ProductBody", "ProductChanges", "StockBody", "MovementBody"):
        assert components[name]["additionalProperties"] is False, name
    quantity = components["LineBody"]["properties"]["quantity"]
    assert (quantity["minimum"], quantity["maximum"]) == (1, intake.UNITS_PER_PRODUCT_MAX)
    assert components["OrderBody"]["properties"]["lines"]["maxItems"] == intake.LINES_MAX


def test_patterns_are_those_of_json_schema(schema: Document) -> None:
    """ECMA-262 has no \\Z and no \\A."""
    found = list(patterns(schema))

    assert found
    assert not [pattern for pattern in found if re.search(r"\\[ZA]", pattern)]


def test_placing_lists_every_code_of_the_contract(operations: dict[str, Document]) -> None:
    """Each row of the table that ends in an error."""
    responses = operations["place_order"]["responses"]
    by_status = {status: set(re.findall("`([a-z_]+)`", told["description"])) for status, told in responses.items()}

    assert by_status["400"] >= {
        "invalid",
        "unknown_product",
        "request_id_missing",
        "request_id_invalid",
        "request_id_conflict",
    }
    assert by_status["409"] == {
        "sold_out",
        "purchase_limit",
        "sale_not_open",
        "price_changed",
        "request_in_progress",
    }
    assert by_status["422"] == {"request_id_reused"}
    for status in ("401", "403", "413", "415", "429", "503"):
        assert status in by_status


def test_reading_products_needs_no_token(operations: dict[str, Document]) -> None:
    """All the rest does."""
    public = {name for name in OPERATIONS if {} in operations[name]["security"]}

    assert public == {"list_products", "show_product"}


def patterns(value: Any) -> Iterator[str]:  # JSON
    """Give all patterns of a document."""
    if isinstance(value, dict):
        yield from ([value["pattern"]] if isinstance(value.get("pattern"), str) else [])
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in within:
        yield from patterns(member)


def bodies(operation: Document) -> list[Document]:
    """Give what an operation takes."""
    return list(operation.get("requestBody", {}).get("content", {}).values())


def answers(operation: Document) -> list[Document]:
    """Give what an operation answers where all is well."""
    told = (answer for status, answer in operation["responses"].items() if status.startswith("2"))
    return [content for answer in told for content in answer["content"].values()]
