"""Valkey stops, comes back, or is not there when the site starts: orders are placed all the same."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from config.embedded import ValkeyServer
from orders.stampede import site
from tests.conftest import MakeToken
from tests.races.sale import open_sale, prove
from tests.workers import share_database

pytestmark = pytest.mark.django_db(transaction=True)

SECONDS_MAX = 10.0


@pytest.fixture
def valkey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ValkeyServer]:
    """Give a Valkey that web workers will use and that may be killed; it does not run yet."""
    server = ValkeyServer(tmp_path / "valkey")
    share_database(monkeypatch)
    monkeypatch.setenv("REDIS_URL", server.url)
    monkeypatch.setenv("THROTTLE_BUYER", "3/1000s")
    yield server
    server.stop()


def call(url: str, method: str, path: str, token: str, body: object = None) -> tuple[int, dict[str, Any]]:  # JSON
    """Call the site, and give the status and the document."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS_MAX)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body), headers)
    answer = connection.getresponse()
    document = json.loads(answer.read())
    connection.close()
    return answer.status, document


def buy(url: str, token: str, request_id: str) -> int:
    """Order one tee, and give the status."""
    body = {"request_id": request_id, "lines": [{"product": "tee", "quantity": 1}]}
    return call(url, "POST", "/api/v1/orders/", token, body)[0]


@pytest.mark.parametrize("admission", ["direct", "lock"])
def test_the_site_stays_up_while_valkey_restarts(valkey: ValkeyServer, token: MakeToken, admission: str) -> None:
    """Killed in mid-sale: orders go on unthrottled, `readyz` says degraded, and all is as before when it is back."""
    open_sale("tee", total=50, admission=admission)
    valkey.start()
    with site.own_site(project="config", workers=1, threads=4) as url:
        before = [buy(url, token("ann"), f"before-{number}") for number in range(4)]
        valkey.kill()
        away = [buy(url, token("ann"), f"away-{number}") for number in range(4)]
        ready = call(url, "GET", "/readyz", token())
        valkey.start()
        repeated = [buy(url, token("bob"), "again") for _ in range(2)]

    assert before == [201, 201, 201, 429]
    assert away == [201] * 4
    assert (ready[0], ready[1]["status"]) == (200, "degraded")
    assert repeated == [201, 201]
    prove("tee")


def test_the_site_starts_while_valkey_is_away(valkey: ValkeyServer, token: MakeToken) -> None:
    """Nothing but throttles and locks need it."""
    open_sale("tee", total=5)

    with site.own_site(project="config", workers=1, threads=4) as url:
        placed = buy(url, token("ann"), "one")

    assert placed == 201
    prove("tee")
