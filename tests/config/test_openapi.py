"""What `config` adds to the OpenAPI document: statuses of problems, and what all operations share."""

import json
from typing import Any

import pytest
from django.test import Client

from config.problems import CONTENT_TYPE, PROBLEMS

Document = dict[str, Any]  # JSON


@pytest.fixture
def document(client: Client) -> Document:
    """Ask the site for the document, as the docs page does."""
    answer = client.get("/api/v1/schema/")
    assert answer.status_code == 200
    found: Document = json.loads(answer.content)
    return found


def _responses(document: Document) -> list[tuple[str, Document]]:
    operations = (operation for methods in document["paths"].values() for operation in methods.values())
    return [pair for operation in operations if "responses" in operation for pair in operation["responses"].items()]


def test_the_document_is_openapi_3_1(document: Document) -> None:
    """For everybody, without a token."""
    assert document["openapi"].startswith("3.1")


def test_callers_are_told_to_send_a_bearer_token(document: Document) -> None:
    """The scheme that the operations name."""
    assert document["components"]["securitySchemes"] == {
        "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    }


def test_every_error_is_a_problem(document: Document) -> None:
    """One component, one content type."""
    errors = [response for status, response in _responses(document) if int(status) >= 400]

    assert errors
    for response in errors:
        assert response["content"] == {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def test_codes_stand_under_the_status_of_the_table(document: Document) -> None:
    """Views name codes; `config.problems` alone knows their statuses."""
    for status, response in _responses(document):
        if int(status) >= 400:
            codes = [part.partition("`: ")[0].strip("` ") for part in response["description"].split(";")]
            assert {PROBLEMS[code][0] for code in codes} == {int(status)}


def test_problems_list_every_code(document: Document) -> None:
    """A closed set: a client can tell all of them apart."""
    properties = document["components"]["schemas"]["Problem"]["properties"]

    assert properties["code"]["enum"] == sorted(PROBLEMS)


def test_every_answer_has_its_request_id(document: Document) -> None:
    """A shared header."""
    assert "X-Request-ID" in document["components"]["headers"]
    assert all("X-Request-ID" in response["headers"] for _, response in _responses(document))


@pytest.mark.parametrize(
    ("status", "header"), [("401", "WWW-Authenticate"), ("429", "Retry-After"), ("503", "Retry-After")]
)
def test_what_comes_with_a_problem_is_described(document: Document, status: str, header: str) -> None:
    """The challenge, and when to come back."""
    assert header in document["paths"]["/api/v1/orders/"]["post"]["responses"][status]["headers"]
