"""A connection that does not wait for ever for a server that has stopped answering.

`statement_timeout` is kept by the server, so it says nothing about a server that hangs: a stopped process, a machine
that is gone without a word. The bound here is kept by the client, per thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

Answer = TypeVar("Answer")

_deadline: ContextVar[float | None] = ContextVar("database_deadline", default=None)


@contextmanager
def answers_by(deadline: float) -> Iterator[None]:
    """Bound every wait for the database inside the block: `deadline` is a reading of `time.monotonic()`."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


class BoundedConnection(psycopg.Connection[Any]):  # rows are whatever Django makes of them
    """Raise OperationalError, and close, where an answer is not there by the deadline of `answers_by`."""

    def wait(self, gen: PQGen[Answer], interval: float = 0.1, timeout: float | None = None) -> Answer:
        """Wait for an answer of the server."""
        deadline = _deadline.get()
        if deadline is None or timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, max(0.0, deadline - monotonic()))
        except psycopg.OperationalError:
            if monotonic() >= deadline:
                # An answer may still be on its way: nobody can use this connection again.
                self.close()
            raise
