"""The settings of PostgreSQL, from its URL."""

from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from psycopg import IsolationLevel

from config import environment
from orders.bounded import BoundedConnection

CONNECT_SECONDS = 2
#: For whoever waits for a row: staff who move stock, commands. Placing has a bound of its own, which is shorter.
LOCK_SECONDS = 10


def from_url(url: str) -> dict[str, Any]:  # what Django takes as the settings of a database
    """Give Django's settings of a database; raise ImproperlyConfigured for what is not the URL of a PostgreSQL.

    A thread holds a connection while it reads or places, never while it waits for a client: so a process needs far
    fewer connections than it has threads. The pool's wait is part of the placing deadline. READ COMMITTED is what the
    protocol of placing is made for, whatever the server's own default says.
    """
    try:
        database: dict[str, Any] = dict(dj_database_url.parse(url, conn_health_checks=True))
    except (ValueError, KeyError) as error:
        raise ImproperlyConfigured(f"DATABASE_URL is not a database URL: {error}") from None
    if database["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must be a postgresql:// URL: the promises rest on PostgreSQL.")
    database["OPTIONS"] = {
        "connect_timeout": CONNECT_SECONDS,
        "isolation_level": IsolationLevel.READ_COMMITTED,
        "options": f"-c lock_timeout={LOCK_SECONDS}s",
        "pool": {
            "min_size": 1,
            "max_size": environment.whole_number("DATABASE_POOL_MAX", default=8, least=1),
            "timeout": environment.seconds("DATABASE_POOL_WAIT_SECONDS", default=2.0),
            "connection_class": BoundedConnection,
        },
    } | database.get("OPTIONS", {})
    return database
