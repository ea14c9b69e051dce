"""Throttles: per buyer and per address, one count for all processes."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from django.test import RequestFactory
from django_redis import get_redis_connection
from pytest_django import Settings
from rest_framework.request import Request
from rest_framework.views import APIView

from access import throttling
from access.breaker import Breaker
from access.caller import Caller
from access.rates import Rate
from access.throttling import OrderThrottle
from config.embedded import ValkeyServer

PROCESSES = 3
PROCESS_SECONDS = 60
MANY_CALLS = """
import django
django.setup()
from tests.access import test_throttling
print(sum(test_throttling.call("ann").is_let_through for _ in range(60)))
"""


class Call:
    """An order call, and what the throttle said of it."""

    def __init__(self, *, is_let_through: bool, wait_seconds: float | None) -> None:
        """Keep what was said."""
        self.is_let_through = is_let_through
        self.wait_seconds = wait_seconds


def call(buyer: str | None = "ann", *, address: str = "203.0.113.9") -> Call:
    """Make an order call of a buyer from an address."""
    request = Request(RequestFactory().post("/", REMOTE_ADDR=address))
    request.user = None if buyer is None else Caller(buyer)  # type: ignore[assignment]  # a caller is no Django user
    throttle = OrderThrottle()
    is_let_through = throttle.allow_request(request, APIView())
    return Call(is_let_through=is_let_through, wait_seconds=throttle.wait())


def _let_through(calls: int, **options: Any) -> int:  # options of a call
    return sum(call(**options).is_let_through for _ in range(calls))


def _names_of_commands(monitor: Any) -> Iterator[str]:  # redis-py's Monitor
    """Give what clients send, but for the words with which they greet; what a script does is not sent."""
    for command in monitor.listen():
        name = command["command"].split()[0]
        if command["client_type"] != "lua" and name not in {"HELLO", "CLIENT"}:
            yield name


@pytest.fixture(autouse=True)
def _fresh_breaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the failures of other tests."""
    monkeypatch.setattr(throttling, "breaker", Breaker(rest_seconds=throttling.REST_SECONDS))


@pytest.fixture
def valkey(tmp_path: Path, settings: Settings) -> Iterator[ValkeyServer]:
    """Count in a Valkey of its own, which the test may end."""
    server = ValkeyServer(tmp_path / "valkey")
    server.start()
    settings.CACHES = settings.CACHES | {"gate": settings.CACHES["gate"] | {"LOCATION": server.url}}
    yield server
    server.stop()


def test_a_buyer_has_a_hundred_calls_in_ten_seconds() -> None:
    """The default of the contract; the next one is told when to come."""
    assert _let_through(100) == 100

    refused = call()

    assert not refused.is_let_through
    assert refused.wait_seconds is not None
    assert 0 < refused.wait_seconds <= 10


def test_buyers_do_not_count_for_each_other() -> None:
    """Not even where they share an address."""
    _let_through(100, buyer="ann")

    assert call("bob").is_let_through


def test_an_address_is_not_limited_unless_the_operator_says_so() -> None:
    """Many buyers share one."""
    assert sum(call(f"buyer-{number}").is_let_through for number in range(120)) == 120


def test_an_address_is_limited_by_its_network(settings: Settings) -> None:
    """An IPv4 address, or a network of IPv6, whoever calls from it; calls without a buyer count as well."""
    settings.THROTTLE_ADDRESS = Rate(calls=3, seconds=10)

    assert [call(f"buyer-{number}", address=f"2001:db8::{number}").is_let_through for number in range(4)] == [
        True,
        True,
        True,
        False,
    ]
    assert not call(None, address="2001:db8::ffff").is_let_through
    assert call(address="2001:db8:0:1::1").is_let_through


def test_a_call_that_one_limit_refuses_does_not_count_for_the_other(settings: Settings) -> None:
    """A buyer who hammers takes nothing from his neighbours, nor a crowded address from its buyers."""
    settings.THROTTLE_BUYER, settings.THROTTLE_ADDRESS = Rate(calls=2, seconds=10), Rate(calls=4, seconds=10)
    _let_through(50, buyer="ann")

    assert _let_through(50, buyer="bob") == 2
    assert _let_through(50, buyer="cat") == 0

    assert _let_through(50, buyer="cat", address="198.51.100.1") == 2


def test_a_refused_call_costs_nothing(settings: Settings) -> None:
    """Who keeps on calling is let through as soon as who waits."""
    settings.THROTTLE_BUYER = Rate(calls=1, seconds=1)
    began = time.monotonic()
    call()

    while not call().is_let_through:
        assert time.monotonic() - began < 10

    assert 0.95 < time.monotonic() - began < 5


def test_in_any_stretch_of_the_window_no_more_calls_go_on_than_the_rate(settings: Settings) -> None:
    """No double rate where one window ends and the next begins."""
    settings.THROTTLE_BUYER = Rate(calls=5, seconds=1)
    times: list[tuple[float, float]] = []
    while len(times) < 15:
        before = time.monotonic()
        if call().is_let_through:
            times.append((before, time.monotonic()))

    assert all(later[1] - earlier[0] > 0.99 for earlier, later in zip(times, times[5:], strict=False))


def test_no_limit_is_no_round_trip(settings: Settings) -> None:
    """An operator may switch both off."""
    settings.THROTTLE_BUYER = None
    settings.CACHES = settings.CACHES | {"gate": settings.CACHES["gate"] | {"LOCATION": "unix:///nowhere/valkey.sock"}}

    assert call().is_let_through
    assert throttling.breaker.lets_try()


def test_both_limits_are_one_round_trip(settings: Settings) -> None:
    """One call of one script, and nothing else on the hot path."""
    settings.THROTTLE_ADDRESS = Rate(calls=100, seconds=10)
    call()

    with get_redis_connection("gate").monitor() as monitor:
        call()
        get_redis_connection("gate").echo("end")
        sent = list(takewhile(lambda name: name != "ECHO", _names_of_commands(monitor)))

    assert sent == ["EVALSHA"]


def test_a_forgotten_script_is_sent_again() -> None:
    """A Valkey that was restarted knows none."""
    call()

    get_redis_connection("gate").script_flush()

    assert call().is_let_through
    assert throttling.breaker.lets_try()


def test_what_is_kept_is_small_and_expires() -> None:
    """A key of one length for any name, no longer than the window."""
    _let_through(120, buyer="🦊" * 128)

    client = get_redis_connection("gate")
    [key] = client.keys("*")
    assert len(key) < 64
    assert client.llen(key) == 100
    assert 0 < client.pttl(key) <= 10_000


def test_all_processes_count_together() -> None:
    """Three processes with sixty calls each share a hundred."""
    command, environment = [sys.executable, "-c", MANY_CALLS], os.environ | {"THROTTLE_BUYER": "100/3600s"}
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]

    counts = [int(process.communicate(timeout=PROCESS_SECONDS)[0]) for process in processes]

    assert sum(counts) == 100


def test_without_valkey_all_go_on(valkey: ValkeyServer) -> None:
    """It only makes Fairdrop fast; what is not counted is counted for Prometheus."""
    _let_through(100)
    valkey.kill()
    before = throttling.failed_open._value.get()

    assert _let_through(20) == 20

    assert throttling.failed_open._value.get() - before == 20


def test_without_valkey_only_the_first_call_waits(valkey: ValkeyServer, settings: Settings) -> None:
    """The others find the breaker open."""
    settings.CACHES = settings.CACHES | {"gate": settings.CACHES["gate"] | {"LOCATION": "redis://192.0.2.1:6379"}}
    call()
    began = time.monotonic()

    assert _let_through(50) == 50

    assert time.monotonic() - began < 0.5


def test_a_valkey_that_is_back_counts_again(valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a rest one call tries, and then all count."""
    monkeypatch.setattr(throttling, "breaker", Breaker(rest_seconds=0.0))
    valkey.kill()
    assert call().is_let_through

    valkey.start()

    assert _let_through(120) == 100
