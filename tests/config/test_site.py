"""The site behind its web server: what travels over a socket, with Valkey away."""

import re
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from access import tokens
from orders.stampede.site import own_site

ANSWER_SECONDS = 15.0
ORDER_CALLS = 40


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Serve the site with two workers, whose Valkey is not there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path_factory.mktemp("metrics")))
        patch.setenv("REDIS_URL", "unix:///nowhere/valkey.sock")
        with own_site(project="config", workers=2, threads=2) as url:
            address = urlsplit(url)
            yield str(address.hostname), int(address.port or 0)


def _exchange(site: tuple[str, int], sent: bytes, *, ends: bool = False) -> bytes:
    """Send bytes as they are, and give the whole answer."""
    with socket.create_connection(site, timeout=ANSWER_SECONDS) as connection:
        connection.sendall(sent)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def _order(headers: str, body: bytes) -> bytes:
    token = tokens.issue("user001", seconds=600)
    head = f"POST /api/v1/orders/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\n{headers}\r\n\r\n".encode() + body


def _status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_a_chunked_body_is_read(site: tuple[str, int]) -> None:
    """HTTP/1.1 lets a client send before it knows how much."""
    answer = _exchange(site, _order("Transfer-Encoding: chunked", b'5\r\n{"lin\r\n7\r\nes": 7}\r\n0\r\n\r\n'))

    assert _status(answer) == 400
    assert b'"pointer":"/lines"' in answer


@pytest.mark.parametrize("form", ["chunked", "length"])
def test_a_body_that_is_too_large_is_refused(site: tuple[str, int], form: str) -> None:
    """Whether its length was said or not."""
    size = 70_000
    headers = "Transfer-Encoding: chunked" if form == "chunked" else f"Content-Length: {size}"
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (size, b" " * size) if form == "chunked" else b" " * size

    answer = _exchange(site, _order(headers, body))

    assert _status(answer) == 413
    assert b"application/problem+json" in answer


def test_a_body_that_breaks_off_is_refused(site: tuple[str, int]) -> None:
    """Half an order is none."""
    answer = _exchange(site, _order("Content-Length: 100", b'{"lines": [{"product": "tee"'), ends=True)

    assert _status(answer) == 400


@pytest.mark.parametrize(
    ("path", "status"),
    [("/%ff%fe", 404), ("/%00", 404), ("/..%2f..%2fetc/passwd", 404), ("/" + "a" * 20_000, 404), ("*", 404)],
)
def test_a_strange_path_is_not_found(site: tuple[str, int], path: str, status: int) -> None:
    """It is looked for, and nothing breaks."""
    answer = _exchange(site, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())

    assert _status(answer) == status
    assert b'"code":"not_found"' in answer


@pytest.mark.parametrize(
    "hosts", ["", "Host: evil.example\r\n", "Host: localhost\r\nHost: evil.example\r\n", "Host: a b\r\n"]
)
def test_a_host_that_is_not_ours_is_refused(site: tuple[str, int], hosts: str) -> None:
    """None, another's, two, or nonsense."""
    answer = _exchange(site, f"GET /livez HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())

    assert _status(answer) == 400


def test_head_has_the_headers_of_get_and_no_body(site: tuple[str, int]) -> None:
    """As load balancers ask."""
    answer = _exchange(site, b"HEAD /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

    assert _status(answer) == 200
    assert answer.endswith(b"\r\n\r\n")


def test_without_valkey_the_site_starts_and_counts_what_it_lets_through(site: tuple[str, int]) -> None:
    """The metrics of all workers are one sum, whichever of them is asked."""
    before = _failed_open(site)
    calls = [
        threading.Thread(target=_exchange, args=(site, _order("Content-Length: 2", b"{}"))) for _ in range(ORDER_CALLS)
    ]

    for call in calls:
        call.start()
    for call in calls:
        call.join(ANSWER_SECONDS)

    assert {_failed_open(site) - before for _ in range(6)} == {ORDER_CALLS}


def _failed_open(site: tuple[str, int]) -> float:
    answer = _exchange(site, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").decode()
    found = re.search(r"^throttle_failed_open_total (\S+)", answer, re.MULTILINE)
    return float(found[1]) if found else 0.0
