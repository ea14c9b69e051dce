"""The backends that the contract is tested against."""

import pytest
from django_redis import get_redis_connection
from pytest_django import Settings

LOCKING = {
    "default": {"BACKEND": "redis", "CACHE": "locks", "TTL": 5, "TIMEOUT": 5},
    "memory": {"BACKEND": "memory", "TTL": 5, "TIMEOUT": 5},
}


@pytest.fixture(params=["default", "memory"])
def backend(request: pytest.FixtureRequest, settings: Settings) -> str:
    """Give the alias of each backend in turn."""
    settings.LOCKING = LOCKING
    alias: str = request.param
    return alias


@pytest.fixture(autouse=True)
def _no_locks_are_left() -> None:
    """Begin each test without a lock of another."""
    client = get_redis_connection("locks")
    for key in client.scan_iter(match="locks:lock:*"):
        client.delete(key)
