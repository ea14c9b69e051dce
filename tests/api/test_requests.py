"""What holds for every call of the API: methods, media types, sizes, and the form of what goes wrong."""

import uuid

import pytest
from django.db import connection
from django.test import Client

from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db

STAFF = ("stock:write", "orders:any-buyer")
#: Every address of the API, and what may be done there.
ALLOWED = {
    "/api/v1/orders/": {"GET", "POST"},
    f"/api/v1/orders/{uuid.UUID(int=0)}/": {"GET"},
    "/api/v1/requests/r-1/": {"GET"},
    "/api/v1/products/": {"GET", "POST"},
    "/api/v1/products/tee/": {"GET", "PATCH"},
    "/api/v1/products/tee/stock/": {"GET", "PUT"},
    "/api/v1/products/tee/movements/": {"GET", "POST"},
}
WRITES = [
    ("POST", "/api/v1/orders/"),
    ("POST", "/api/v1/products/"),
    ("PATCH", "/api/v1/products/tee/"),
    ("PUT", "/api/v1/products/tee/stock/"),
    ("POST", "/api/v1/products/tee/movements/"),
]
CALLS = [(address, method) for address in ALLOWED for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE")]


@pytest.fixture
def staff(api: MakeClient) -> Client:
    """Give a client that may do everything."""
    shop.open_sale("tee")
    return api("staff001", *STAFF)


@pytest.mark.parametrize(("address", "method"), [call for call in CALLS if call[1] not in ALLOWED[call[0]]])
def test_another_method_is_refused_with_those_there_are(address: str, method: str, staff: Client) -> None:
    """405, and Allow says what would do, whatever else is wrong with the call."""
    for query in ("", "?nonsense=1"):
        answer = staff.generic(method, address + query)
        assert shop.refusal(answer) == (405, "method_not_allowed")
        assert {name.strip() for name in answer["Allow"].split(",")} == ALLOWED[address] | {"HEAD", "OPTIONS"}


@pytest.mark.parametrize("address", [address for address in ALLOWED if "00000000" not in address])
def test_head_is_get_without_a_body(address: str, staff: Client) -> None:
    """The same status and headers."""
    get, head = staff.get(address), staff.head(address)

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == get.headers["Content-Type"]
    assert head.headers.get("ETag") == get.headers.get("ETag")


@pytest.mark.parametrize("address", ALLOWED)
def test_options_tells_the_methods(address: str, staff: Client) -> None:
    """And nothing of what is there."""
    answer = staff.options(address)

    assert answer.status_code == 200
    assert {name.strip() for name in answer["Allow"].split(",")} == ALLOWED[address] | {"HEAD", "OPTIONS"}


@pytest.mark.parametrize(("method", "address"), WRITES)
@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x"],
)
def test_a_body_that_is_not_said_to_be_json_is_refused(
    method: str, address: str, content_type: str, staff: Client
) -> None:
    """415, also where it would parse: a form of another site sends no JSON by accident."""
    assert shop.refusal(staff.generic(method, address, b"{}", content_type=content_type)) == (
        415,
        "unsupported_media_type",
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_is_json_however_it_is_written(content_type: str, staff: Client) -> None:
    """With a charset, and in capitals."""
    body = b'{"request_id":"r-1","lines":[{"product":"tee","quantity":1}]}'

    assert staff.generic("POST", shop.ORDERS, body, content_type=content_type).status_code == 201


@pytest.mark.parametrize(("method", "address"), WRITES)
def test_a_body_has_64_kib_at_most(method: str, address: str, staff: Client) -> None:
    """413 for one byte more, whatever is in it; what just fits is read."""
    fits = b'{"' + b"x" * (64 * 1024 - 5) + b'":1}'

    assert shop.refusal(staff.generic(method, address, fits[: 64 * 1024], content_type="application/json"))[0] == 400
    assert shop.refusal(staff.generic(method, address, fits + b" ", content_type="application/json")) == (
        413,
        "payload_too_large",
    )


@pytest.mark.parametrize(("method", "address"), WRITES)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[" * 60_000, b'{"a":' * 10_000, b"null", b"[]", b'"x"', b"\xff\xfe", b"\x00", b"9" * 60_000],
)
def test_no_body_breaks_the_server(method: str, address: str, body: bytes, staff: Client) -> None:
    """Empty, half, deep, huge, of another type, of no text: 400 with a place."""
    answer = staff.generic(method, address, body, CONTENT_TYPE="application/json")

    assert len(shop.pointers(answer)) == 1


@pytest.mark.parametrize("address", ALLOWED)
def test_an_unknown_parameter_is_refused_everywhere(address: str, staff: Client) -> None:
    """On lists, details and writes alike: it may be a filter with a typo."""
    for method in ALLOWED[address]:
        assert shop.pointers(staff.generic(method, f"{address}?pagesize=2")) == ["?pagesize"]


@pytest.mark.parametrize("address", ALLOWED)
def test_a_problem_has_the_form_of_the_contract(address: str, staff: Client) -> None:
    """Members, an instance, and a type that leads to a page about it."""
    answer = staff.delete(address, headers={"X-Request-ID": str(uuid.UUID(int=7))})

    assert list(answer.json()) == ["type", "title", "status", "code", "detail", "instance", "retryable"]
    assert answer.json()["instance"] == f"urn:uuid:{uuid.UUID(int=7)}"
    assert answer["X-Request-ID"] == str(uuid.UUID(int=7))
    assert staff.get(answer.json()["type"]).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ALLOWED)
def test_no_connection_is_held_once_the_answer_is_made(address: str, staff: Client) -> None:
    """A slow client must not hold one of the database's connections."""
    staff.get(address)

    assert connection.connection is None


def test_a_missing_slash_is_named(staff: Client) -> None:
    """A redirect would lose the body of a POST."""
    answer = shop.post(staff, "/api/v1/orders", shop.basket("tee"))

    assert shop.refusal(answer) == (404, "not_found")
    assert "/api/v1/orders/" in answer.json()["detail"]
