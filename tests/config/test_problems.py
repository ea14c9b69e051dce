"""Problem documents: one form for every error, wherever it comes from."""

import uuid

import pytest
from django.test import Client
from pytest_django import Settings

from config.problems import PROBLEMS
from inventory.exceptions import Refusal
from orders import exceptions as orders_exceptions
from tests.api.shop import ORDERS, Answer, post, refusal
from tests.config.broken_site import SECRET
from tests.conftest import MakeClient

MEMBERS = ["type", "title", "status", "code", "detail", "instance", "retryable"]
STATUSES = {
    "unforeseen": (500, "internal_error"),
    "broken": (500, "internal_error"),
    "deep": (500, "internal_error"),
    "database": (503, "busy"),
    "connection": (503, "busy"),
    "driver": (503, "busy"),
    "pool": (503, "busy"),
    "missing": (404, "not_found"),
    "forbidden": (403, "permission_denied"),
    "suspicious": (400, "invalid"),
    "bad": (400, "invalid"),
    "large": (413, "payload_too_large"),
    "server": (500, "internal_error"),
    "throttled": (429, "throttled"),
}


def _codes(kind: type[Refusal]) -> set[str]:
    own = {kind.code} if hasattr(kind, "code") else set()
    return own.union(*(_codes(child) for child in kind.__subclasses__()))


def _is_problem(answer: Answer, status: int, code: str) -> bool:
    document = answer.json()
    assert refusal(answer) == (status, code)
    assert list(document)[: len(MEMBERS)] == MEMBERS
    assert document["type"].endswith(f"/problems/{code}")
    assert document["title"] == PROBLEMS[code][1]
    uuid.UUID(document["instance"].removeprefix("urn:uuid:"))
    assert answer["X-Request-ID"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "no-store"
    return True


def test_every_refusal_has_a_status() -> None:
    """A refusal that the table does not know would be a 500."""
    codes = _codes(Refusal)

    assert orders_exceptions.SoldOut.code in codes
    assert codes <= set(PROBLEMS)


@pytest.mark.parametrize("debug", [False, True], ids=["public", "debug"])
@pytest.mark.parametrize("place", ["/api/v1/broken", "/broken"])
@pytest.mark.parametrize("name", STATUSES)
@pytest.mark.urls("tests.config.broken_site")
def test_every_exception_is_a_problem_document(
    client: Client, settings: Settings, name: str, place: str, debug: bool
) -> None:
    """In the API and beside it, on a public site and on a developer's: no stack, no query, no word of the error."""
    settings.DEBUG = debug

    answer = client.get(f"{place}/{name}/")

    assert _is_problem(answer, *STATUSES[name])
    assert SECRET not in answer.content.decode()


@pytest.mark.urls("tests.config.broken_site")
@pytest.mark.parametrize("name", ["database", "pool", "throttled"])
def test_who_may_come_back_is_told_when(client: Client, name: str) -> None:
    """Retry-After is in whole seconds, never too early."""
    answer = client.get(f"/api/v1/broken/{name}/")

    assert answer["Retry-After"] == ("2" if name == "throttled" else "1")
    assert answer.json()["retryable"] is True


@pytest.mark.urls("tests.config.broken_site")
def test_what_broke_is_in_the_log_with_the_id_of_the_request(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """The caller is told where to look, and nothing else."""
    name = str(uuid.uuid4())

    answer = client.get("/api/v1/broken/unforeseen/", headers={"X-Request-ID": name})

    [record] = [record for record in caplog.records if record.name == "config.problems"]
    assert record.getMessage() == "GET /api/v1/broken/unforeseen/ failed"
    assert record.exc_info is not None
    assert answer["X-Request-ID"] == name
    assert answer.json()["instance"] == f"urn:uuid:{name}"


@pytest.mark.urls("tests.config.broken_site")
def test_what_fields_are_wrong_is_said_by_json_pointers(client: Client) -> None:
    """Of DRF's ValidationError, as of our own refusals (RFC 6901)."""
    fields, text = (client.get(f"/api/v1/broken/{name}/").json() for name in ("fields", "text"))

    assert fields["errors"] == [
        {"pointer": "/lines/0/a~1b", "detail": "is wrong"},
        {"pointer": "/x~0y", "detail": "is odd"},
        {"pointer": "/x~0y", "detail": "is even"},
    ]
    assert text["errors"] == [{"pointer": "", "detail": "is wrong"}]


@pytest.mark.parametrize("debug", [False, True], ids=["public", "debug"])
def test_a_middleware_that_fails_is_a_problem_document(client: Client, settings: Settings, debug: bool) -> None:
    """No view was asked, and no page of Django's is shown."""
    settings.MIDDLEWARE, settings.DEBUG = [*settings.MIDDLEWARE, "tests.config.broken_site.BrokenMiddleware"], debug
    client.raise_request_exception = False

    answer = client.get("/livez")

    assert _is_problem(answer, 500, "internal_error")
    assert SECRET not in answer.content.decode()


@pytest.mark.urls("tests.config.broken_site")
def test_the_admin_keeps_its_pages(client: Client) -> None:
    """Staff have a browser; only a database that is away is the same for all."""
    client.raise_request_exception = False

    assert client.get("/admin/broken/unforeseen/")["Content-Type"].startswith("text/html")
    assert client.get("/admin/broken/forbidden/")["Content-Type"].startswith("text/html")
    assert _is_problem(client.get("/admin/broken/database/"), 503, "busy")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/api/v1/nowhere/", 404, "not_found"),
        ("GET", "/api/v1/orders/not-a-uuid/", 404, "not_found"),
        ("GET", "/problems/nothing", 404, "not_found"),
        ("GET", "/static/nothing.css", 404, "not_found"),
        ("POST", "/livez", 405, "method_not_allowed"),
        ("POST", "/problems/", 405, "method_not_allowed"),
        ("GET", "/api/v1/orders/", 401, "not_authenticated"),
    ],
)
@pytest.mark.parametrize("debug", [False, True], ids=["public", "debug"])
def test_errors_that_no_view_has_raised_are_problem_documents(
    client: Client, settings: Settings, method: str, path: str, status: int, code: str, debug: bool
) -> None:
    """Those of the resolver, of middleware, and of views that know one method."""
    settings.DEBUG = debug

    assert _is_problem(client.generic(method, path), status, code)


def test_a_wrong_method_is_told_the_right_ones(client: Client, api: MakeClient) -> None:
    """Of a plain view, and of the API."""
    assert client.post("/livez")["Allow"] == "GET, HEAD"
    assert "POST" in api().delete(ORDERS)["Allow"]
    assert refusal(api().delete(ORDERS)) == (405, "method_not_allowed")


def test_no_token_and_a_bad_token_are_challenged(client: Client) -> None:
    """RFC 6750: the error is named only where there was a token to be wrong."""
    without, bad = client.get(ORDERS), client.get(ORDERS, headers={"Authorization": "Bearer nonsense"})

    assert without["WWW-Authenticate"] == 'Bearer realm="fairdrop"'
    assert bad["WWW-Authenticate"] == 'Bearer realm="fairdrop", error="invalid_token"'
    assert _is_problem(bad, 401, "not_authenticated")


@pytest.mark.parametrize("header", ["", "Bearer", "Basic dXNlcjpwYXNz", "Bearer  ", "Token x", "Bearer a b"])
def test_an_authorization_that_is_no_token_is_refused(client: Client, header: str) -> None:
    """Who says who he is, and does it wrongly, is not taken for nobody."""
    assert _is_problem(client.get("/api/v1/products/", headers={"Authorization": header}), 401, "not_authenticated")


def test_a_scope_that_is_missing_is_named(api: MakeClient) -> None:
    """403, with the scope that it takes."""
    answer = post(api(), "/api/v1/products/", {})

    assert _is_problem(answer, 403, "permission_denied")
    assert "stock:write" in answer.json()["detail"]


def test_what_cannot_be_accepted_is_406(client: Client) -> None:
    """Where an answer has one form only, it can be the wrong one."""
    assert _is_problem(client.get("/api/v1/schema/", headers={"Accept": "image/png"}), 406, "not_acceptable")


def test_a_body_that_is_not_json_is_415(api: MakeClient) -> None:
    """A form is not an order."""
    assert _is_problem(api().post(ORDERS, {"a": "b"}), 415, "unsupported_media_type")


@pytest.mark.parametrize("debug", [False, True], ids=["public", "debug"])
def test_a_wrong_host_is_a_problem_without_a_host(client: Client, settings: Settings, debug: bool) -> None:
    """The address of the page about it cannot name the site."""
    settings.ALLOWED_HOSTS, settings.DEBUG = ["fairdrop.example"], debug

    answer = client.get("/livez", headers={"Host": "evil.example"})

    assert _is_problem(answer, 400, "invalid")
    assert answer.json()["type"] == "/problems/invalid"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("debug", [False, True], ids=["public", "debug"])
def test_a_missing_slash_is_named(client: Client, settings: Settings, method: str, debug: bool) -> None:
    """A redirect would lose the body of a POST, and Django's own check is a RuntimeError."""
    settings.DEBUG = debug

    answer = client.generic(method, ORDERS.rstrip("/"), b"{}", content_type="application/json")

    assert _is_problem(answer, 404, "not_found")
    assert answer.json()["detail"].endswith(ORDERS)


def test_shop_fronts_can_read_refusals(client: Client, settings: Settings) -> None:
    """A browser hides an answer without CORS headers from the page that asked, also a 404 of the resolver."""
    settings.CORS_ALLOWED_ORIGINS = ["https://shop.example"]

    for path in (ORDERS, "/api/v1/nowhere/"):
        answer = client.get(path, headers={"Origin": "https://shop.example"})
        assert answer.status_code in {401, 404}
        assert answer["Access-Control-Allow-Origin"] == "https://shop.example"
        assert "retry-after" in answer["Access-Control-Expose-Headers"].lower()


def test_head_of_an_error_has_no_body(client: Client) -> None:
    """RFC 9110: the headers are those of a GET."""
    answer = client.head("/nowhere")

    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.content == b""
