"""The embedded servers: one each, durable, found again, ended."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from config import embedded
from config.embedded import PostgresServer, ServiceError, ValkeyServer, homes, processes
from config.embedded.server import Server, wait_until

WAIT_SECONDS = 30
CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Give a directory for servers, which are ended with the test."""
    yield tmp_path
    for server in (PostgresServer(tmp_path / "postgres"), ValkeyServer(tmp_path / "valkey")):
        server.stop()
        if isinstance(server, PostgresServer) and server.home != server.directory:
            shutil.rmtree(server.home, ignore_errors=True)


def both(home: Path) -> list[Server]:
    """Give both servers of a directory."""
    return [PostgresServer(home / "postgres"), ValkeyServer(home / "valkey")]


def ask(server: PostgresServer, statement: str) -> object:
    """Ask a PostgreSQL for one value."""
    with psycopg.connect(server.url) as connection:
        row = connection.execute(statement).fetchone()
    assert row is not None
    return row[0]


def in_a_process(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the checkout, with these variables alone beside PATH."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=CHECKOUT,
        env={"PATH": os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_many_processes_that_start_at_once_share_one_server_each(home: Path) -> None:
    """Six processes call ensure_running together: all find the same two servers."""
    code = "from config import embedded as e; e.ensure_running(); print(*[server.pid for server in e.servers()])"
    command = [sys.executable, "-c", code]
    environment = {"PATH": os.environ["PATH"], "STATE_DIR": str(home)}

    starters = [
        subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(6)
    ]
    pids = {starter.communicate(timeout=90)[0] for starter in starters}

    assert len(pids) == 1
    assert all(server.is_running() for server in both(home))


def test_a_killed_server_is_started_again_with_its_data(home: Path) -> None:
    """kill -9 leaves pid files and sockets behind: the next start survives them."""
    postgres, valkey = PostgresServer(home / "postgres"), ValkeyServer(home / "valkey")
    postgres.start()
    valkey.start()
    with psycopg.connect(postgres.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    redis.Redis.from_url(valkey.url).set("kept", "42")
    redis.Redis.from_url(valkey.url).waitaof(1, 0, 5000)

    for server in (postgres, valkey):
        server.kill()
        server.start()

    assert ask(postgres, "SELECT answer FROM kept") == 42
    assert redis.Redis.from_url(valkey.url).get("kept") == b"42"


def test_a_pid_file_of_a_stranger_is_survived(home: Path) -> None:
    """The pid of a dead server now belongs to another process: it is neither believed nor signalled."""
    stranger = subprocess.Popen(["sleep", "60"])
    for server in both(home):
        server.start()
        server.kill()
    (PostgresServer(home / "postgres").data / "postmaster.pid").write_text(f"{stranger.pid}\n")
    (home / "valkey" / "pid").write_text(f"{stranger.pid}\n")

    assert [server.pid for server in both(home)] == [None, None]
    assert [server.stop() for server in both(home)] == [False, False]
    for server in both(home):
        server.start()

    assert stranger.poll() is None
    stranger.kill()
    stranger.wait(WAIT_SECONDS)


def test_half_a_database_is_thrown_away(home: Path) -> None:
    """A first start that was killed in the middle leaves a draft, and the next one begins anew."""
    postgres = PostgresServer(home / "postgres")
    homes.make_private(postgres.home, homes.unprivileged())
    draft = postgres.home / "data.new"
    draft.mkdir()
    (draft / "PG_VERSION").write_text("18\n")

    postgres.start()

    assert postgres.is_running()
    assert not draft.exists()


def test_the_servers_are_durable(home: Path) -> None:
    """What was answered is on disk: fsync and the append-only file are on, nothing is evicted."""
    postgres, valkey = PostgresServer(home / "postgres"), ValkeyServer(home / "valkey")
    postgres.start()
    valkey.start()

    settings = {name: ask(postgres, f"SHOW {name}") for name in ("fsync", "full_page_writes", "synchronous_commit")}
    client = redis.Redis.from_url(valkey.url, decode_responses=True)

    assert set(settings.values()) == {"on"}
    assert client.config_get("append*")["appendonly"] == "yes"
    assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


def test_only_their_owner_can_reach_the_servers(home: Path) -> None:
    """There is no port, and the sockets lie in directories of their own with mode 0700."""
    postgres, valkey = PostgresServer(home / "postgres"), ValkeyServer(home / "valkey")
    postgres.start()
    valkey.start()

    modes = {stat.S_IMODE(server.socket.parent.stat().st_mode) for server in (postgres, valkey)}

    assert modes == {0o700}
    assert ask(postgres, "SHOW listen_addresses") == ""
    assert redis.Redis.from_url(valkey.url, decode_responses=True).config_get("port") == {"port": "0"}


def test_a_long_path_gets_a_short_socket(home: Path) -> None:
    """A socket's path is bounded by the system: a long STATE_DIR still works, with a socket elsewhere."""
    deep = home / ("d" * 80) / ("e" * 60)
    valkey = ValkeyServer(deep / "valkey")

    valkey.start()

    assert valkey.is_running()
    assert not valkey.socket.is_relative_to(deep)
    valkey.stop()


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """What stands in the place of a private directory is not taken over."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "valkey").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ServiceError, match="is not ours"):
        ValkeyServer(tmp_path / "valkey").start()


def test_a_directory_that_its_owner_cannot_reach_is_replaced(home: Path) -> None:
    """PostgreSQL does not run as root: below a directory that is root's alone, its files lie where its user may go."""
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    postgres = PostgresServer(closed / "postgres")

    postgres.start()

    assert ask(postgres, "SELECT 1") == 1
    assert (postgres.home == postgres.directory) == (homes.unprivileged() == homes.me())
    postgres.stop()
    shutil.rmtree(postgres.home)


def test_two_directories_never_meet(home: Path) -> None:
    """Each STATE_DIR has servers of its own."""
    one, other = ValkeyServer(home / "valkey"), ValkeyServer(home / "other" / "valkey")
    one.start()
    other.start()

    redis.Redis.from_url(one.url).set("mine", "1")

    assert one.pid != other.pid
    assert redis.Redis.from_url(other.url).get("mine") is None
    other.stop()


def test_stop_ends_the_servers_and_may_be_repeated(home: Path) -> None:
    """The first stop tells that there was one, the second that there was none."""
    for server in both(home):
        server.start()

    assert [server.stop() for server in both(home)] == [True, True]
    assert [server.stop() for server in both(home)] == [False, False]
    assert not any(server.is_running() for server in both(home))


def test_a_server_that_hangs_is_not_taken_for_running(home: Path) -> None:
    """A stopped process keeps its socket: asked, it does not answer."""
    valkey = ValkeyServer(home / "valkey")
    valkey.start()
    pid = valkey.pid
    assert pid is not None

    processes.send(pid, signal.SIGSTOP)
    answers = valkey.answers()
    processes.send(pid, signal.SIGCONT)

    assert not answers
    assert wait_until(valkey.answers, seconds=WAIT_SECONDS)


def test_reading_the_settings_starts_nothing(tmp_path: Path) -> None:
    """Importing the settings computes URLs: no server, no socket."""
    done = in_a_process("import config.settings as s; print(s.REDIS_URL)", STATE_DIR=str(tmp_path))

    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "valkey").exists()
    assert not (tmp_path / "postgres").exists()


def test_a_url_replaces_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With DATABASE_URL and REDIS_URL set, nothing is embedded."""
    monkeypatch.setenv("DATABASE_URL", "postgresql://elsewhere/fairdrop")
    assert [server.name for server in embedded.servers()] == ["Valkey"]

    monkeypatch.setenv("REDIS_URL", "redis://elsewhere/0")

    assert embedded.servers() == []


@pytest.mark.parametrize(
    ("variable", "url", "word"),
    [
        ("DATABASE_URL", "nonsense", "DATABASE_URL"),
        ("DATABASE_URL", "mysql://localhost/shop", "postgresql://"),
        ("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/shop", "PostgreSQL"),
        ("REDIS_URL", "nonsense", "REDIS_URL"),
    ],
)
def test_a_wrong_url_gives_one_clear_line(tmp_path: Path, variable: str, url: str, word: str) -> None:
    """A command says what is wrong, without a traceback, and fails."""
    other = {"DATABASE_URL": "REDIS_URL", "REDIS_URL": "DATABASE_URL"}[variable]
    working = {"DATABASE_URL": "postgresql://127.0.0.1:1/shop", "REDIS_URL": "redis://127.0.0.1:1/0"}[other]
    code = "import sys; sys.argv = ['manage.py', 'migrate']; import manage; manage.main()"

    done = in_a_process(code, **{"STATE_DIR": str(tmp_path), variable: url, other: working})

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().count("\n") == 0, done.stderr
    assert word in done.stderr


def test_the_services_command_tells_the_state(home: Path) -> None:
    """`services status` fails while something is down, and names each server."""
    code = "import sys; sys.argv = ['manage.py', 'services', '{}']; import manage; manage.main()"
    before = in_a_process(code.format("status"), STATE_DIR=str(home))
    started = in_a_process(code.format("start"), STATE_DIR=str(home))
    after = in_a_process(code.format("status"), STATE_DIR=str(home))
    stopped = in_a_process(code.format("stop"), STATE_DIR=str(home))

    assert (before.returncode, started.returncode, after.returncode, stopped.returncode) == (1, 0, 0, 0)
    assert "PostgreSQL: does not run" in before.stdout
    assert "PostgreSQL: runs, pid" in after.stdout
    assert stopped.stdout.count("stopped") == 2


def test_remove_deletes_all_that_a_server_keeps(home: Path) -> None:
    """After `services remove` nothing is left, neither here nor where its user could reach it."""
    for server in both(home):
        server.start()

    for server in both(home):
        server.remove()

    assert not any(server.is_running() for server in both(home))
    assert not any(place.exists() for server in both(home) for place in {server.directory, *server.places})


def test_a_directory_that_cannot_be_made_gives_one_clear_line() -> None:
    """STATE_DIR lies where nobody can write."""
    code = "import sys; sys.argv = ['manage.py', 'migrate']; import manage; manage.main()"

    done = in_a_process(code, STATE_DIR="/proc/nowhere")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "/proc/nowhere" in done.stderr


def test_a_server_whose_files_were_deleted_does_not_harm_the_next_one(home: Path) -> None:
    """`rm -rf .state` while it runs: the old server is ended, for its end would take the new one's socket along."""
    old = []
    for server in both(home):
        server.start()
        old.append(server.pid)
        for place in {server.directory, *server.places}:
            shutil.rmtree(place, ignore_errors=True)

    for server in both(home):
        server.start()

    assert not any(processes.is_alive(pid) for pid in old if pid)
    assert all(server.is_running() for server in both(home))
