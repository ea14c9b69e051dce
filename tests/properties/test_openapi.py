"""The OpenAPI document tells the truth: whatever it allows to send is answered as it says, and never by a 5xx."""

from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import CheckFunction
from schemathesis.specs.openapi import checks

from config.wsgi import application
from tests.conftest import MakeToken
from tests.races.sale import open_sale, prove

EXAMPLES_MAX = 25
SCOPES = ("stock:write", "orders:any-buyer")
CHECKS: list[CheckFunction] = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]

pytestmark = pytest.mark.django_db(transaction=True)
document = schemathesis.openapi.from_wsgi("/api/v1/schema/", application)


@document.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES_MAX, deadline=None, suppress_health_check=list(hypothesis.HealthCheck), derandomize=False
)
def test_every_answer_is_one_of_the_document(case: schemathesis.Case[Any], token: MakeToken) -> None:
    """With a token for everything: no 5xx, no undocumented status, no other shape; and the books stay right."""
    open_sale_once()

    case.call_and_validate(headers={"Authorization": f"Bearer {token('user001', *SCOPES)}"}, checks=CHECKS)

    prove()


def open_sale_once() -> None:
    """Make a product that generated requests can hit."""
    from inventory.models import Product

    if not Product.objects.filter(sku="0").exists():
        open_sale("0", total=5)
