"""A real PostgreSQL and a real Valkey for every checkout, started when a command needs them and none is configured.

`database_url` and `redis_url` only compute: importing the settings starts nothing. `ensure_running` starts, once for
all processes of the checkout; `DATABASE_URL` and `REDIS_URL` each replace a server by one of your own.
"""

import os
from pathlib import Path

from config.embedded.errors import ServiceError
from config.embedded.postgres import PostgresServer
from config.embedded.server import Server
from config.embedded.valkey import ValkeyServer

__all__ = [
    "PostgresServer",
    "Server",
    "ServiceError",
    "ValkeyServer",
    "database_url",
    "ensure_running",
    "redis_url",
    "servers",
    "state_dir",
]

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def state_dir() -> Path:
    """Give the directory of all that this checkout keeps: STATE_DIR, by default `.state` beside manage.py."""
    return Path(os.environ.get("STATE_DIR") or CHECKOUT / ".state").absolute()


def database_url() -> str:
    """Give the URL of the embedded PostgreSQL."""
    return _postgres().url


def redis_url() -> str:
    """Give the URL of the embedded Valkey."""
    return _valkey().url


def servers() -> list[Server]:
    """List the servers that are embedded, for want of a URL."""
    embedded: list[tuple[str, Server]] = [("DATABASE_URL", _postgres()), ("REDIS_URL", _valkey())]
    return [server for variable, server in embedded if not os.environ.get(variable)]


def ensure_running() -> None:
    """Start what is embedded and does not run yet; raise ServiceError with one line that says what is wrong."""
    for server in servers():
        server.start()


def _postgres() -> PostgresServer:
    return PostgresServer(state_dir() / "postgres")


def _valkey() -> ValkeyServer:
    return ValkeyServer(state_dir() / "valkey")
