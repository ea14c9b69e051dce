"""What the embedded servers have in common: one start for all processes, a found pid, an end within a bound."""

import contextlib
import fcntl
import os
import shutil
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path

from config.embedded import processes
from config.embedded.errors import ServiceError

#: Another process may be making a database at this moment.
START_LOCK_SECONDS = 90.0
STOP_SECONDS = 20.0
KILL_SECONDS = 5.0
POLL_SECONDS = 0.02


class Server(ABC):
    """A server of one directory. Two directories never meet: sockets, data and pids are each one's own."""

    #: As people call it.
    name: str
    stop_signals: tuple[signal.Signals, ...]

    def __init__(self, directory: Path) -> None:
        """Describe the server of this directory; nothing is touched."""
        self.directory = directory

    @property
    @abstractmethod
    def url(self) -> str:
        """Give the URL to connect with."""

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """Find the running server of this directory, by its pid file and by what the process says of itself."""

    @property
    def working_directory(self) -> Path:
        """Give the directory that the server works in."""
        return self.directory

    @property
    def places(self) -> set[Path]:
        """List the directories that the server has beside its own."""
        return set()

    @abstractmethod
    def answers(self) -> bool:
        """Ask the server."""

    @abstractmethod
    def launch(self) -> None:
        """Prepare the directory and start the server; the caller holds the start lock."""

    def is_running(self) -> bool:
        """Tell whether the server answers."""
        return self.answers()

    def start(self) -> None:
        """Start the server if it does not answer yet, and wait until it does; safe in many processes at once."""
        if self.answers():
            return
        try:
            with self._start_lock():
                if not self.answers():
                    self._end_what_was_left_behind()
                    self.launch()
        except OSError as error:
            raise ServiceError(f"{self.name} cannot be started: {error}") from error

    def stop(self) -> bool:
        """End the server, first with courtesy; tell whether there was one."""
        pid = self.pid
        if pid is None:
            return False
        for stop_signal in self.stop_signals:
            processes.send(pid, stop_signal)
            if wait_until(lambda: not processes.is_alive(pid), seconds=STOP_SECONDS):
                return True
        self.kill()
        return True

    def remove(self) -> None:
        """End the server and delete all that it keeps."""
        self.stop()
        for directory in {self.directory, *self.places}:
            shutil.rmtree(directory, ignore_errors=True)

    def kill(self) -> None:
        """End the server as a crash would."""
        pid = self.pid
        if pid is not None:
            processes.send(pid, signal.SIGKILL)
            wait_until(lambda: not processes.is_alive(pid), seconds=KILL_SECONDS)

    def _end_what_was_left_behind(self) -> None:
        """End a server whose files were deleted under it: it would take the next one's socket with it when it goes."""
        pids = processes.left_behind(self.working_directory)
        for pid in pids:
            processes.send(pid, signal.SIGKILL)
        wait_until(lambda: not any(processes.is_alive(pid) for pid in pids), seconds=KILL_SECONDS)

    @contextlib.contextmanager
    def _start_lock(self) -> Iterator[None]:
        self.directory.parent.mkdir(parents=True, exist_ok=True)
        path = self.directory.parent / f"{self.directory.name}.lock"
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
            if not wait_until(lambda: _is_locked(file.fileno()), seconds=START_LOCK_SECONDS):
                raise ServiceError(f"{self.name} is being started by another process for too long; see {path}")
            yield


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_until(condition: Callable[[], bool], *, seconds: float) -> bool:
    """Ask until the condition holds; False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def last_words(log: Path) -> str:
    """Give the line of a server's log that says why it ended: the last fatal one, else the last."""
    with contextlib.suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
        if lines:
            return (fatal or lines)[-1].strip()
    return f"see {log}"
