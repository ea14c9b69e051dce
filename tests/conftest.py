"""What tests of all parts share: tokens, clients that send them, and a Valkey without yesterday's keys."""

from typing import Protocol

import pytest
from django.test import Client
from django_redis import get_redis_connection

from access import tokens

TOKEN_SECONDS = 600


class MakeToken(Protocol):
    """Make a token for a buyer, with scopes."""

    def __call__(self, buyer: str = "user001", *scopes: str) -> str:
        """Give the token."""


class MakeClient(Protocol):
    """Make a client that sends the token of a buyer."""

    def __call__(self, buyer: str = "user001", *scopes: str) -> Client:
        """Give the client; bodies are JSON with `content_type="application/json"`."""


@pytest.fixture(autouse=True)
def _empty_valkey() -> None:
    """Forget what earlier tests have counted and locked."""
    get_redis_connection("gate").flushdb()


@pytest.fixture
def token() -> MakeToken:
    """Make tokens: `token("user001", "stock:write")`."""

    def make(buyer: str = "user001", *scopes: str) -> str:
        return tokens.issue(buyer, scopes=scopes, seconds=TOKEN_SECONDS)

    return make


@pytest.fixture
def api(token: MakeToken) -> MakeClient:
    """Make clients of the API: `api("user001", "orders:any-buyer").get("/api/v1/orders/")`."""

    def make(buyer: str = "user001", *scopes: str) -> Client:
        return Client(headers={"Authorization": f"Bearer {token(buyer, *scopes)}"})

    return make
