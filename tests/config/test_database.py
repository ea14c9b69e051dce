"""The settings of PostgreSQL, and the bound of a web request's waits."""

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import RequestFactory, override_settings

from config import database
from config.wsgi import application
from tests.races.sale import open_sale
from tests.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True)


def get(path: str) -> str:
    """Call the site as its web server does, and give the status."""
    told: list[str] = []
    application(RequestFactory().get(path).environ, lambda status, _: told.append(status))
    return told[0]


def shown(setting: str) -> str:
    """Ask PostgreSQL for a setting of this connection."""
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {setting}")
        value: str = cursor.fetchone()[0]
        return value


@override_settings(DATABASE_ANSWER_SECONDS=0.5)
def test_a_web_request_does_not_wait_for_ever_for_postgresql() -> None:
    """The table is locked by somebody else: 503 when the bound is over, and all is well when the lock is gone."""
    open_sale("tee", total=5)

    with psycopg.connect(database_url()) as other:
        other.execute("LOCK TABLE inventory_product IN ACCESS EXCLUSIVE MODE")
        blocked = get("/api/v1/products/tee/")

    assert blocked.startswith("503")
    assert get("/api/v1/products/tee/").startswith("200")


def test_a_row_is_never_waited_for_without_a_bound() -> None:
    """Staff and commands too give up after LOCK_SECONDS."""
    assert shown("lock_timeout") == f"{database.LOCK_SECONDS}s"


def test_the_isolation_level_is_that_of_the_protocol() -> None:
    """READ COMMITTED, whatever the server's default says."""
    assert settings.DATABASES["default"]["OPTIONS"]["isolation_level"] == psycopg.IsolationLevel.READ_COMMITTED


def test_the_url_may_say_more() -> None:
    """Options of the URL win over ours."""
    found = database.from_url("postgresql://shop@db:5433/sale?sslmode=require&connect_timeout=9")

    assert (found["HOST"], found["PORT"], found["NAME"]) == ("db", 5433, "sale")
    assert (found["OPTIONS"]["sslmode"], int(found["OPTIONS"]["connect_timeout"])) == ("require", 9)
