"""Reach PostgreSQL in another way for a while: with other settings, or over a wire that can be cut."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import Any

import pytest
from django.db import connection

CHUNK_BYTES = 65_536
#: With its closing zero: a BEGIN may name READ COMMITTED.
LOST = b"COMMIT\0"


@contextmanager
def reconnected(*, options: dict[str, Any] | None = None, **settings: Any) -> Iterator[None]:  # Django's own settings
    """Connect with other settings of the database, and other OPTIONS, inside the block."""
    _close_pool()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setitem(connection.settings_dict, name, value)
        patch.setitem(connection.settings_dict, "OPTIONS", connection.settings_dict["OPTIONS"] | (options or {}))
        try:
            yield
        finally:
            _close_pool()


def pool_of(size: int, *, wait_seconds: float) -> dict[str, Any]:
    """Give OPTIONS with a pool of another size."""
    pool = connection.settings_dict["OPTIONS"]["pool"]
    return {"pool": pool | {"min_size": 1, "max_size": size, "timeout": wait_seconds}}


def _close_pool() -> None:
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL alone; the stubs do not know it


class Cut(Enum):
    """What becomes of a COMMIT: the wire is cut, or goes silent, before the server has seen it or after."""

    BEFORE = auto()
    AFTER = auto()
    SILENT_BEFORE = auto()
    SILENT_AFTER = auto()


class Wire:
    """A proxy in front of PostgreSQL, which does to the next COMMIT what it is told."""

    def __init__(self) -> None:
        """Listen on a free port."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = [self._listener]
        self._next: Cut | None = None
        self._server = connection.settings_dict["HOST"], int(connection.settings_dict["PORT"] or 5432)
        self._start(self._accept)

    @property
    def settings(self) -> dict[str, Any]:
        """Give the settings of a connection through this wire."""
        return {"HOST": "127.0.0.1", "PORT": self._listener.getsockname()[1]}

    def cut_next(self, cut: Cut) -> None:
        """Do this to the next COMMIT."""
        self._next = cut

    def close(self) -> None:
        """End all connections."""
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = self._connect()
                self._sockets += [client, server]
                connection = _Connection(self, client, server)
                self._start(connection.carry_requests)
                self._start(connection.carry_answers)

    def _connect(self) -> socket.socket:
        host, port = self._server
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def take(self) -> Cut | None:
        """Take what is to be done, once."""
        cut, self._next = self._next, None
        return cut

    @staticmethod
    def _start(work: Any) -> None:  # a method without arguments
        threading.Thread(target=work, daemon=True).start()


class _Connection:
    """One connection through a wire."""

    def __init__(self, wire: Wire, client: socket.socket, server: socket.socket) -> None:
        self.wire, self.client, self.server = wire, client, server
        self.cut: Cut | None = None

    def carry_requests(self) -> None:
        with suppress(OSError):
            while chunk := self.client.recv(CHUNK_BYTES):
                if LOST in chunk:
                    self.cut = self.wire.take()
                if self.cut in {Cut.BEFORE, Cut.SILENT_BEFORE}:
                    break
                self.server.sendall(chunk)
        if self.cut is not Cut.SILENT_BEFORE:
            self._hang_up()

    def carry_answers(self) -> None:
        with suppress(OSError):
            while chunk := self.server.recv(CHUNK_BYTES):
                if self.cut is not None and LOST in chunk:
                    break
                self.client.sendall(chunk)
        if self.cut is not Cut.SILENT_AFTER:
            self._hang_up()

    def _hang_up(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def over_a_wire() -> Iterator[Wire]:
    """Connect through a wire inside the block; the first connection stands when it begins."""
    wire = Wire()
    try:
        with reconnected(options={"sslmode": "disable"}, **wire.settings):
            connection.ensure_connection()
            connection.close()
            yield wire
    finally:
        wire.close()
