"""Alive, ready, and what Prometheus asks for."""

import socket
import time
from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from django.db import connection
from django.test import Client
from psycopg_pool import ConnectionPool
from pytest_django import Settings

from access import throttling
from config import health
from tests.api.shop import refusal


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Listen on a port, and never say anything there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def _valkey_at(settings: Settings, url: str) -> None:
    settings.CACHES = settings.CACHES | {"gate": settings.CACHES["gate"] | {"LOCATION": url}}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_alive_is_who_answers(client: Client, method: str) -> None:
    """Without a query, a token or a limit."""
    answers = [client.generic(method, "/livez") for _ in range(150)]

    assert {answer.status_code for answer in answers} == {200}
    assert answers[0]["Cache-Control"] == "no-store"


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_ready_says_how_each_dependency_is(client: Client, method: str) -> None:
    """All is well."""
    answer = client.generic(method, "/readyz")

    assert answer.status_code == 200
    if method == "GET":
        assert answer.json() == {"status": "ok", "postgresql": "ok", "valkey": "ok"}


@pytest.mark.django_db
def test_without_valkey_the_site_is_degraded_and_ready(client: Client, settings: Settings, silent_port: int) -> None:
    """It only makes Fairdrop fast; also one that never answers keeps nobody for long."""
    for url in ("unix:///nowhere/valkey.sock", f"redis://127.0.0.1:{silent_port}"):
        _valkey_at(settings, url)
        began = time.monotonic()

        answer = client.get("/readyz")

        assert answer.status_code == 200
        assert answer.json()["status"] == "degraded"
        assert answer.json()["valkey"] != "ok"
        assert time.monotonic() - began < 2


@pytest.mark.django_db
def test_without_postgresql_the_site_is_not_ready(
    client: Client, monkeypatch: pytest.MonkeyPatch, silent_port: int
) -> None:
    """PostgreSQL decides; one that never answers is as good as none, and is not waited for."""
    silent = ("127.0.0.1", str(silent_port), "ConnectionTimeout")
    for host, port, state in (("/nowhere", "5432", "OperationalError"), silent):
        monkeypatch.setitem(connection.settings_dict, "HOST", host)
        monkeypatch.setitem(connection.settings_dict, "PORT", port)
        began = time.monotonic()

        answer = client.get("/readyz")

        assert refusal(answer) == (503, "busy")
        assert answer.json()["postgresql"] == state
        assert answer.json()["valkey"] == "ok"
        assert time.monotonic() - began < 4


@pytest.mark.django_db
def test_a_site_whose_tables_are_older_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state says how many migrations are pending."""
    known = health._migrations()
    monkeypatch.setattr(health, "_migrations", lambda: known | {("orders", "9998_a"), ("orders", "9999_b")})

    answer = client.get("/readyz")

    assert refusal(answer) == (503, "busy")
    assert answer.json()["postgresql"] == "2 migrations pending"


@pytest.mark.django_db(transaction=True)
def test_a_busy_site_is_ready(client: Client) -> None:
    """The question waits for none of the pool's connections, however many are in use."""
    pool: ConnectionPool = connection.pool  # type: ignore[attr-defined]  # of the PostgreSQL backend
    connection.close()
    held = [pool.getconn() for _ in range(pool.max_size)]

    try:
        assert client.get("/readyz").json()["status"] == "ok"
    finally:
        for taken in held:
            pool.putconn(taken)


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics"])
def test_health_is_read_only(client: Client, path: str) -> None:
    """Nothing is changed by asking."""
    assert refusal(client.post(path)) == (405, "method_not_allowed")


def test_metrics_are_for_prometheus(client: Client) -> None:
    """By default it asks from the same machine."""
    throttling.failed_open.inc()

    answer = client.get("/metrics")

    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    assert "throttle_failed_open_total" in answer.content.decode()


@pytest.mark.parametrize("address", ["203.0.113.9", "2001:db8::1", "10.0.0.1"])
def test_metrics_are_for_nobody_else(client: Client, address: str) -> None:
    """An address that METRICS_ALLOW does not name."""
    assert refusal(client.get("/metrics", REMOTE_ADDR=address)) == (403, "permission_denied")


def test_metrics_can_be_allowed_to_a_network(client: Client, settings: Settings) -> None:
    """Prometheus may stand elsewhere."""
    settings.METRICS_ALLOW = [ip_network("10.0.0.0/8")]

    assert client.get("/metrics", REMOTE_ADDR="10.9.9.9").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="127.0.0.1").status_code == 403


def test_a_proxy_does_not_open_the_metrics(client: Client, settings: Settings) -> None:
    """Through a proxy on the same machine all the world comes from 127.0.0.1."""
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    assert client.get("/metrics", headers=forwarded).status_code == 403

    settings.TRUSTED_PROXIES = [ip_network("127.0.0.1")]

    assert client.get("/metrics", headers=forwarded).status_code == 403
    assert client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.2"}).status_code == 200
