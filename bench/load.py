"""The load: a closed loop of connections that costs the machine as little as a load can.

Requests are made before the clock starts; each connection sends its next one when the last was answered. It runs in a
process of its own, so that it does not share an interpreter with what it measures.
"""

import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from selectors import EVENT_READ, DefaultSelector

from bench import django_ready

ANSWER_SECONDS = 30.0
RECEIVE_BYTES = 65_536
HEADER_END = b"\r\n\r\n"
TOKEN_SECONDS = 3600.0


@dataclass(frozen=True)
class Load:
    """What is sent where. Each request has a buyer and a request_id of its own."""

    port: int
    path: str
    sku: str
    #: Makes buyers and request ids of this load unlike those of others.
    name: str
    connections: int
    warm_seconds: float
    seconds: float
    #: Requests made beforehand; when they are used up the load ends.
    requests_max: int


@dataclass(frozen=True)
class Answered:
    """Answers by status, in so many seconds after warming up."""

    statuses: dict[int, int]
    seconds: float

    def per_second(self, status: int) -> float:
        """Give the rate of one status."""
        return self.statuses.get(status, 0) / self.seconds


def run(load: Load) -> Answered:
    """Run a load in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_run, (load,))


def _run(load: Load) -> Answered:
    django_ready()
    requests = list(_requests(load))
    return _storm(load, iter(requests))


def _requests(load: Load) -> Iterator[bytes]:
    from access import tokens

    for number in range(load.requests_max):
        token = tokens.issue(f"{load.name}-{number}", seconds=TOKEN_SECONDS)
        body = json.dumps({"request_id": f"{load.name}-{number}", "lines": [{"product": load.sku, "quantity": 1}]})
        head = f"POST {load.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        yield (head + body).encode()


def _storm(load: Load, requests: Iterator[bytes]) -> Answered:
    """Send until the time is over or nothing is left, each connection its next request when the last was answered."""
    statuses: Counter[int] = Counter()
    started_at = time.monotonic() + load.warm_seconds
    ends_at = started_at + load.seconds
    now = time.monotonic()
    with DefaultSelector() as selector:
        for request in islice(requests, load.connections):
            connection = _Connection(load.port)
            selector.register(connection.socket, EVENT_READ, connection)
            connection.send(request)
        while selector.get_map():
            ready = selector.select(ANSWER_SECONDS)
            if not ready:
                raise TimeoutError(f"no answer within {ANSWER_SECONDS:.0f} s")
            now = time.monotonic()
            for key, _ in ready:
                status = key.data.receive()
                if status is None:
                    continue
                statuses[status] += started_at <= now <= ends_at
                following = next(requests, None) if now <= ends_at else None
                if following is None:
                    selector.unregister(key.data.socket)
                    key.data.socket.close()
                else:
                    key.data.send(following)
    return Answered(dict(statuses), min(now, ends_at) - started_at)


class _Connection:
    """A connection with at most one request on its way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def send(self, request: bytes) -> None:
        self.socket.sendall(request)

    def receive(self) -> int | None:
        """Give the status when the answer is whole, else None."""
        more = self.socket.recv(RECEIVE_BYTES)
        if not more:
            raise ConnectionError("the server has hung up")
        self._received += more
        end = self._received.find(HEADER_END)
        if end < 0 or len(self._received) < end + len(HEADER_END) + _length(self._received):
            return None
        status, self._received = int(self._received[9:12]), b""
        return status


def _length(answer: bytes) -> int:
    start = answer.index(b"content-length: ") + len(b"content-length: ")
    return int(answer[start : answer.index(b"\r", start)])
