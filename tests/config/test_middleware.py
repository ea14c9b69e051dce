"""What happens around every view."""

import io
from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from access import tokens
from config import bodies, wsgi
from config.middleware import RequestIdMiddleware
from config.request_id import request_id
from tests.api.shop import ORDERS, post, refusal
from tests.conftest import MakeClient

BODY_BYTES_MAX = 64 * 1024


@pytest.mark.parametrize("name", ["a", "x" * 128, "8e03978e-40d5-43e8-bc93-6894a57f9324", "A-z_0.9~:+/="])
def test_a_request_id_is_echoed(client: Client, name: str) -> None:
    """Whoever stands before us can follow a request through."""
    assert client.get("/livez", headers={"X-Request-ID": name})["X-Request-ID"] == name


@pytest.mark.parametrize(
    "name", ["", "x" * 129, "a b", "a\nb", "a\r\nSet-Cookie: b=c", "\u202ea", "é", "a;b", '"', "<script>"]
)
def test_a_request_id_that_does_not_fit_is_replaced(client: Client, name: str) -> None:
    """It goes into headers and logs: nothing else may come with it."""
    answers = [client.get("/livez", headers={"X-Request-ID": name})["X-Request-ID"] for _ in range(2)]

    assert name not in answers
    assert answers[0] != answers[1]
    assert all(len(answer) == 36 for answer in answers)


def test_the_request_id_is_there_for_the_log_and_gone_afterwards() -> None:
    """Threads are used again."""
    seen: list[str | None] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request_id.get())
        return HttpResponse()

    RequestIdMiddleware(view)(RequestFactory().get("/", headers={"X-Request-ID": "abc"}))

    assert seen == ["abc"]
    assert request_id.get() is None


@pytest.mark.parametrize("path", [ORDERS, "/api/v1/products/", "/livez", "/nowhere"])
def test_a_body_has_at_most_64_kib(client: Client, path: str) -> None:
    """Whatever the path and the token: nothing of it is read."""
    answer = post(client, path, b"x" * (BODY_BYTES_MAX + 1))

    assert refusal(answer) == (413, "payload_too_large")
    assert str(BODY_BYTES_MAX) in answer.json()["detail"]


def test_a_body_of_64_kib_is_read(api: MakeClient) -> None:
    """The limit itself is allowed."""
    answer = post(api(), ORDERS, b" " * BODY_BYTES_MAX)

    assert refusal(answer) == (400, "invalid")


def test_the_admin_may_send_more(client: Client, settings: Settings) -> None:
    """Its forms are larger, and have a limit too."""
    more, too_much = b"x" * (BODY_BYTES_MAX + 1), b"x" * (settings.ADMIN_BODY_BYTES_MAX + 1)

    assert client.post("/admin/nowhere/", more, content_type="text/plain").status_code != 413
    assert refusal(client.post("/admin/nowhere/", too_much, content_type="text/plain")) == (413, "payload_too_large")


class Counted(io.BytesIO):
    """A body that counts what is read of it, and notes whether a connection was held meanwhile."""

    bytes_read = 0
    holds_connection = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, and look at the connection of this thread."""
        data = super().read(size)
        self.bytes_read += len(data)
        self.holds_connection |= connection.connection is not None
        return data


def _environ(path: str, body: Counted, **changed: Any) -> dict[str, Any]:  # a WSGI environment
    authorization = f"Bearer {tokens.issue('user001', seconds=60)}"
    request = RequestFactory().post(path, content_type="application/json", headers={"Authorization": authorization})
    environ = request.environ | {"wsgi.input": body, "HTTP_HOST": "localhost"} | changed
    return {name: value for name, value in environ.items() if value is not None}


def _send(environ: dict[str, Any]) -> HttpResponse:  # a WSGI environment
    answer = wsgi.application(environ, lambda *_: None)
    assert isinstance(answer, HttpResponse)
    answer.close()
    return answer


@pytest.mark.parametrize("length", [None, ""])
def test_a_body_of_unknown_length_is_read_up_to_the_limit(length: str | None) -> None:
    """Chunked, or over HTTP/2: a client that never ends is stopped."""
    body = Counted(b"x" * 1_000_000)

    answer = _send(_environ(ORDERS, body, CONTENT_LENGTH=length))

    assert answer.status_code == 413
    assert body.bytes_read == BODY_BYTES_MAX + 1


def test_a_body_of_unknown_length_is_not_taken_for_empty() -> None:
    """Django would answer that nothing was sent."""
    answer = _send(_environ(ORDERS, Counted(b'{"lines": 7}'), CONTENT_LENGTH=None))

    assert b"/lines" in answer.content


def test_a_read_without_a_body_waits_for_none() -> None:
    """GET has no body to wait for."""
    body = Counted(b"")
    environ = _environ("/livez", body, CONTENT_LENGTH=None, REQUEST_METHOD="GET")

    assert bodies.with_length(environ)["wsgi.input"] is body


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("length", ["12", None])
def test_a_slow_client_holds_no_connection(length: str | None) -> None:
    """The body is read before the first query: a pool of eight serves any number of senders that dawdle."""
    connection.close()
    body = Counted(b'{"lines": 7}')

    _send(_environ(ORDERS, body, CONTENT_LENGTH=length))

    assert body.bytes_read == 12
    assert not body.holds_connection


@pytest.mark.django_db
def test_the_api_has_no_session_and_asks_for_no_cookie(api: MakeClient) -> None:
    """What the admin needs costs the API nothing: no query, no cookie, no CSRF token."""
    client = api()
    client.cookies["sessionid"] = "0" * 32

    with CaptureQueriesContext(connection) as captured:
        answer = post(client, ORDERS, {})

    assert refusal(answer) == (400, "invalid")
    assert len(captured) == 0
    assert not answer.cookies


def test_the_admin_is_protected_against_foreign_forms() -> None:
    """CSRF protection, sessions and frames: as Django has them."""
    answer = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "a", "password": "b"})

    assert answer.status_code == 403
    assert answer["X-Frame-Options"] == "DENY"


def test_pages_and_documents_are_not_sniffed(client: Client) -> None:
    """Every answer says what it is, and no page is told where a visitor came from."""
    for path in ("/livez", "/problems/", "/nowhere"):
        answer = client.get(path)
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"


def test_a_shop_front_may_send_what_the_contract_needs(client: Client, settings: Settings) -> None:
    """The headers of an order pass a browser's preflight; another origin's do not."""
    settings.CORS_ALLOWED_ORIGINS = ["https://shop.example"]
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "idempotency-key"}

    ours = client.options(ORDERS, headers={"Origin": "https://shop.example"} | asked)
    foreign = client.options(ORDERS, headers={"Origin": "https://evil.example"} | asked)

    allowed = ours["Access-Control-Allow-Headers"]
    assert all(name in allowed for name in ("authorization", "content-type", "idempotency-key", "if-match", "prefer"))
    assert ours["Access-Control-Allow-Origin"] == "https://shop.example"
    assert "Access-Control-Allow-Origin" not in foreign
