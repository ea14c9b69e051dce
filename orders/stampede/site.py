"""The site that is stormed: web workers of our own on a free port, or one that runs elsewhere."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import urlopen

START_SECONDS = 30.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.05
LOG_LINES_SHOWN = 5


class SiteError(Exception):
    """The site cannot be reached; the message is one line."""


@contextlib.contextmanager
def own_site(*, project: str, workers: int, threads: int) -> Iterator[str]:
    """Start web workers of a project (`config` or `bench`), give their URL, and end them by their process id."""
    port = _free_port()
    granian = Path(sys.executable).with_name("granian")
    command = [str(granian), "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", str(workers), "--blocking-threads", str(threads), "--log-level", "warning"]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": f"{project}.settings"}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*command, f"{project}.wsgi:application"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process, log=log)
            yield url
        finally:
            _end(process)


def check(url: str) -> None:
    """Raise SiteError where a site does not answer."""
    if not _is_alive(url):
        raise SiteError(f"{url} does not answer at /livez")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _is_alive(url: str) -> bool:
    try:
        with urlopen(f"{url}/livez", timeout=START_SECONDS) as answer:  # noqa: S310 - http, by our own making or the operator's
            return bool(answer.status == 200)
    except (URLError, OSError, ValueError):
        return False


def _wait(url: str, process: subprocess.Popen[bytes], *, log: IO[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _is_alive(url):
        if process.poll() is not None or time.monotonic() > deadline:
            log.seek(0)
            last = log.read().decode(errors="replace").strip().splitlines()[-LOG_LINES_SHOWN:]
            raise SiteError(f"the web workers do not start: {' / '.join(last) or 'no word'}")
        time.sleep(POLL_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP_SECONDS)
