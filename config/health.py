"""Health: alive, ready, and what Prometheus asks for."""

import os
from collections.abc import Callable
from functools import lru_cache
from time import monotonic

import msgspec
import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from django_redis import get_redis_connection
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from redis.exceptions import RedisError

from access import addresses
from config import problems
from orders.bounded import BoundedConnection, answers_by

OK = "ok"
#: libpq takes less than two seconds for two.
CONNECT_SECONDS = 2
ANSWER_SECONDS = 1.0


@require_safe
def livez(request: HttpRequest) -> HttpResponse:
    """Say that the process answers."""
    return _json({"status": OK})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Say whether orders can be placed: PostgreSQL away is 503, Valkey away is degraded."""
    states = {"postgresql": _state(_ask_database), "valkey": _state(_ask_valkey)}
    if states["postgresql"] != OK:
        return problems.problem(request, "busy", detail="Orders cannot be placed: PostgreSQL is not ready.", **states)
    return _json({"status": OK if states["valkey"] == OK else "degraded"} | states)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Give the metrics of all processes, to the addresses of METRICS_ALLOW."""
    client = addresses.client_of(request.META)
    if addresses.is_hidden(request.META) or not addresses.is_within(client, settings.METRICS_ALLOW):
        return problems.problem(request, "permission_denied", detail="This address is not in METRICS_ALLOW.")
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # untyped in prometheus_client
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _state(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except (psycopg.Error, RedisError) as error:
        return type(error).__name__


def _ask_database() -> str:
    """Ask PostgreSQL which migrations it has.

    The connection is none of the pool's: in a sale all of those may be busy, and a site that is busy is ready.
    """
    parameters = connection.get_connection_params() | {"connect_timeout": CONNECT_SECONDS}
    with BoundedConnection.connect(**parameters) as own, answers_by(monotonic() + ANSWER_SECONDS):
        applied = own.execute("SELECT app, name FROM django_migrations").fetchall()
    pending = _migrations() - set(applied)
    return f"{len(pending)} migrations pending" if pending else OK


@lru_cache(maxsize=1)
def _migrations() -> frozenset[tuple[str, str]]:
    """List the migrations of this version: they do not change while the process lives."""
    return frozenset(MigrationLoader(None).disk_migrations)


def _ask_valkey() -> str:
    get_redis_connection("gate").ping()
    return OK


def _json(document: dict[str, str]) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    return HttpResponse(msgspec.json.encode(document), content_type="application/json", headers=headers)
