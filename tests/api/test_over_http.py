"""What only a real server shows: headers as they travel, over a socket."""

import http.client
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from inventory.models import Stock
from orders.stampede import site
from tests.api import shop
from tests.conftest import MakeToken
from tests.workers import share_database

pytestmark = pytest.mark.django_db(transaction=True)

SECONDS_MAX = 10.0
LINES = b'{"lines":[{"product":"tee","quantity":1}]}'

Headers = list[tuple[str, str]]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[http.client.HTTPConnection]:
    """Start the web workers on the database of this test, and connect."""
    share_database(monkeypatch)
    with site.own_site(project="config", workers=1, threads=4) as url:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS_MAX)
        yield connection
        connection.close()


def send(server: http.client.HTTPConnection, token: str, headers: Headers, body: bytes = LINES) -> tuple[int, str]:
    """Send an order with these headers, each as often as it is given; tell the status, and the code or the status."""
    server.putrequest("POST", shop.ORDERS)
    common = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
    for name, value in [*common, ("Content-Length", str(len(body))), *headers]:
        server.putheader(name, value)
    server.endheaders(body)
    answer = server.getresponse()
    document = json.loads(answer.read())
    return answer.status, document.get("code") or document["request_id"]


def test_headers_arrive_as_they_were_sent(server: http.client.HTTPConnection, token: MakeToken) -> None:
    """I10, I11 and I13: a header sent twice, too long, or in other characters is 400; one is an order."""
    shop.open_sale("tee", stock=5)
    key, ann = "Idempotency-Key", token("ann")

    def told(*headers: tuple[str, str]) -> tuple[int, str]:
        return send(server, ann, list(headers))

    assert told((key, "a"), (key, "b")) == (400, "request_id_invalid")
    assert told((key, "a"), (key, "a")) == (400, "request_id_invalid")
    assert told((key, "")) == (400, "request_id_invalid")
    assert told((key, "\u00e9")) == (400, "request_id_invalid")
    assert told((key, "x" * 9_000)) == (400, "request_id_invalid")
    assert told((key, "a\tb")) == (400, "request_id_invalid")
    assert told((key, '"a"')) == (201, "a")
    assert send(server, ann, [(key, "b")], LINES[:-1] + b',"request_id":"a"}') == (400, "request_id_conflict")
    assert Stock.objects.get().available == 4
