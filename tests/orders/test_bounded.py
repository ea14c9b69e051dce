"""A connection that gives up on a server that does not answer."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import connection

from orders import bounded
from orders.bounded import BoundedConnection

pytestmark = pytest.mark.django_db(transaction=True)

SLEEP = "SELECT pg_sleep(%s)"
# The server goes on when nobody waits for it any more: no longer than PostgreSQL waits when it drops the database.
TOO_LONG_SECONDS = 2


@pytest.fixture
def session() -> Iterator[BoundedConnection]:
    """Give the connection that the site uses."""
    connection.ensure_connection()
    assert isinstance(connection.connection, BoundedConnection)
    yield connection.connection
    connection.close()


def test_an_answer_that_is_late_is_not_waited_for(session: BoundedConnection) -> None:
    """The caller goes on at the deadline, and nobody can use the connection again: the answer may still come."""
    began = time.monotonic()

    with bounded.answers_by(began + 0.3), pytest.raises(psycopg.OperationalError):
        session.execute(SLEEP, [TOO_LONG_SECONDS])

    assert time.monotonic() - began >= 0.3
    assert session.closed


def test_an_answer_in_time_is_given(session: BoundedConnection) -> None:
    """The bound costs nothing where it is kept."""
    with bounded.answers_by(time.monotonic() + 20):
        [answer] = session.execute("SELECT 'here'").fetchall()

    assert answer == ("here",)
    assert not session.closed


def test_nothing_is_asked_after_the_deadline(session: BoundedConnection) -> None:
    """The second statement of a deadline that is over does not begin a wait of its own."""
    with bounded.answers_by(time.monotonic() - 1), pytest.raises(psycopg.OperationalError):
        session.execute(SLEEP, [TOO_LONG_SECONDS])


def test_outside_the_block_there_is_no_bound(session: BoundedConnection) -> None:
    """The admin's long query is its own business."""
    with bounded.answers_by(time.monotonic() + 0.1):
        pass

    session.execute(SLEEP, [0.3])

    assert not session.closed


def test_an_error_of_the_server_in_time_is_what_it_is(session: BoundedConnection) -> None:
    """The connection stays open, and the error keeps its name."""
    with bounded.answers_by(time.monotonic() + 20), pytest.raises(psycopg.errors.DivisionByZero):
        session.execute("SELECT 1 / 0")

    assert not session.closed


def test_a_deadline_is_of_its_thread(session: BoundedConnection) -> None:
    """A hurried thread does not hurry its neighbour."""
    with bounded.answers_by(time.monotonic() - 1), ThreadPoolExecutor(1) as other:
        assert other.submit(_ask).result(20) == (1,)


def _ask() -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        found: tuple[int, ...] = cursor.fetchone()
    connection.close()
    return found
