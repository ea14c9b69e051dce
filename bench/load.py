"""The load: a closed loop of connections that costs the machine as little as a load can.

Requests are made before the clock starts; each connection sends its next one when the last was answered. It runs in a
process of its own, so that it does not share an interpreter with what it measures.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context

from bench import django_ready

CONNECT_SECONDS = 10.0
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
    return asyncio.run(_storm(load, iter(requests)))


def _requests(load: Load) -> Iterator[bytes]:
    from access import tokens

    for number in range(load.requests_max):
        token = tokens.issue(f"{load.name}-{number}", seconds=TOKEN_SECONDS)
        body = json.dumps({"request_id": f"{load.name}-{number}", "lines": [{"product": load.sku, "quantity": 1}]})
        head = f"POST {load.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        yield (head + body).encode()


async def _storm(load: Load, requests: Iterator[bytes]) -> Answered:
    statuses: Counter[int] = Counter()
    started_at = time.monotonic() + load.warm_seconds
    ends_at = started_at + load.seconds
    loops = [_loop(load.port, requests, statuses, started_at, ends_at) for _ in range(load.connections)]
    last_answers = await asyncio.gather(*loops)
    return Answered(dict(statuses), min(load.seconds, max(last_answers) - started_at))


async def _loop(
    port: int, requests: Iterator[bytes], statuses: Counter[int], started_at: float, ends_at: float
) -> float:
    """Send until the time is over or nothing is left; give the time of the last answer."""
    reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), CONNECT_SECONDS)
    now = time.monotonic()
    for request in requests:
        writer.write(request)
        head = await reader.readuntil(HEADER_END)
        await reader.readexactly(_length(head))
        now = time.monotonic()
        if now > ends_at:
            break
        if now >= started_at:
            statuses[int(head[9:12])] += 1
    writer.close()
    return now


def _length(head: bytes) -> int:
    start = head.index(b"content-length: ") + len(b"content-length: ")
    return int(head[start : head.index(b"\r", start)])
