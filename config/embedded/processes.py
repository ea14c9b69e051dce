"""Processes: a pid alone says nothing, for pids are used again."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

PS_SECONDS = 5


def command_line(pid: int) -> str:
    """Give what a process says it is; empty where there is none, or only its remains."""
    proc = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self").exists():
        with contextlib.suppress(OSError):
            return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return ""
    command = ["ps", "-p", str(pid), "-o", "command="]
    return subprocess.run(command, capture_output=True, text=True, timeout=PS_SECONDS, check=False).stdout  # noqa: S603 - a fixed command


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a dead one that waits for its parent does not."""
    return command_line(pid) != ""


def working_in(directory: Path) -> list[int]:
    """List the processes whose working directory this is; none where the system does not tell."""
    return _with_cwd(str(directory))


def left_behind(directory: Path) -> list[int]:
    """List the processes whose working directory this was, before it was deleted under them."""
    return _with_cwd(f"{directory} (deleted)")


def _with_cwd(link: str) -> list[int]:
    found = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if str(cwd.readlink()) == link:
                found.append(int(cwd.parent.name))
    return found


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal; a process that has gone meanwhile is as good as told."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def read_pid(path: Path) -> int | None:
    """Read the first line of a pid file; None for what is not a pid file."""
    try:
        number = int(path.read_text(encoding="ascii").split(maxsplit=1)[0])
    except (OSError, ValueError, IndexError):
        return None
    return number if number > 1 else None
