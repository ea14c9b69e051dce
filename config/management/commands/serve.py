"""Serve the site with granian: web workers with threads, until Ctrl-C."""

import os
import shutil
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config import embedded, environment

# Each request of a hot sale waits for its batch: threads are what waits. Measured by `make bench`.
WORKERS_DEFAULT = 2
THREADS_DEFAULT = 32
#: Connections that wait for a thread; beyond it the kernel refuses, and a proxy tries elsewhere.
BACKLOG = 4096
PORT_MAX = 65_535


class Command(BaseCommand):
    """Serve the site."""

    help = "Serve the site with granian until Ctrl-C. WEB_WORKERS and WEB_THREADS set processes and their threads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take where to listen."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, host: str, port: int, **options: Any) -> None:  # what Django passes to every command
        """Become granian: signals reach it without a go-between."""
        _check_free(host, port)
        metrics = embedded.state_dir() / "metrics" / str(port)
        shutil.rmtree(metrics, ignore_errors=True)
        metrics.mkdir(parents=True)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(metrics)
        workers = environment.whole_number("WEB_WORKERS", default=WORKERS_DEFAULT, least=1)
        threads = environment.whole_number("WEB_THREADS", default=THREADS_DEFAULT, least=1)
        self.stdout.write(f"Fairdrop at http://{host}:{port}/ (Ctrl-C ends it)")
        self.stdout.flush()
        granian = Path(sys.executable).with_name("granian")
        arguments = ["--interface", "wsgi", "--host", host, "--port", str(port), "--workers", str(workers)]
        arguments += ["--blocking-threads", str(threads), "--backlog", str(BACKLOG), "--log-level", "error"]
        arguments += ["--respawn-failed-workers", "config.wsgi:application"]
        os.execv(granian, [str(granian), *arguments])  # noqa: S606 - our own program, no shell


def _check_free(host: str, port: int) -> None:
    """Raise CommandError where nobody can listen; granian would say so in a traceback of its own."""
    if not 0 < port <= PORT_MAX:
        raise CommandError(f"{port} is not a port: 1 to {PORT_MAX}")
    try:
        socket.create_server((host, port)).close()
    except OSError as error:
        raise CommandError(f"cannot listen at {host}:{port}: {error.strerror}; choose another port (PORT)") from error
