"""Processes that die or hang in the middle: ours, and PostgreSQL's."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.synchronize import Event
from typing import Any

import psutil
import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker, Settings

from config.embedded import PostgresServer
from orders import books, deciding, placing
from orders.command import PlaceOrder
from orders.models import Order
from tests.races import crowd, moments
from tests.races.database import reconnected
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


def place(command: PlaceOrder) -> str:
    """Place one order, and say what the buyer is told."""
    [outcome] = placing.place([command])
    return told(outcome)


# --- Our own process is killed ------------------------------------------------------------------


def stand_still_after_deciding(command: PlaceOrder, reached: Event) -> None:
    """Place an order, and stand still when it is decided and not yet written."""
    stand_still_after(deciding, "decide", command, reached)


def stand_still_after_writing(command: PlaceOrder, reached: Event) -> None:
    """Place an order, and stand still when all of it is written and not yet committed."""
    stand_still_after(books, "write", command, reached)


def stand_still_after(module: Any, name: str, command: PlaceOrder, reached: Event) -> None:
    """Place an order, and stand still behind a function until the process is killed."""
    function = getattr(module, name)

    def call_and_stand_still(*arguments: Any, **options: Any) -> None:  # those of the function
        function(*arguments, **options)
        with connection.cursor() as cursor:  # What was sent has been carried out when this is answered.
            cursor.execute("SELECT 1")
            cursor.fetchone()
        reached.set()
        time.sleep(moments.SECONDS_MAX)

    setattr(module, name, call_and_stand_still)
    placing.place([command], deadline=time.monotonic() + moments.SECONDS_MAX)


@pytest.mark.parametrize("job", [stand_still_after_deciding, stand_still_after_writing])
def test_the_repeat_of_a_request_whose_process_was_killed_runs_once(job: Callable[..., None]) -> None:
    """I03: nothing of the first run is left, nothing of it stands in the way, and the second places the order."""
    open_sale(total=5)
    command = wants("tee")
    reached = crowd.CONTEXT.Event()

    with crowd.one(job, command, reached):
        assert reached.wait(moments.SECONDS_MAX)

    assert place(command) == "placed"
    assert place(command) == "replayed"
    assert Order.objects.count() == 1
    prove()


# --- PostgreSQL stops answering -----------------------------------------------------------------


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[PostgresServer]:
    """Give a PostgreSQL that a test may stop, with the tables of the shop."""
    server = PostgresServer(tmp_path_factory.mktemp("stopped") / "postgres")
    server.remove()  # What root's server keeps elsewhere may have outlived a directory of the same name.
    server.start()
    try:
        with django_db_blocker.unblock(), connected_to(server):
            call_command("migrate", verbosity=0)
        yield server
    finally:
        server.remove()


@contextmanager
def connected_to(server: PostgresServer) -> Iterator[None]:
    """Connect to this server inside the block."""
    socket_dir = str(server.socket.parent)
    with reconnected(HOST=socket_dir, PORT="", NAME="fairdrop", USER="fairdrop", PASSWORD=""):
        yield


@contextmanager
def stopped(server: PostgresServer) -> Iterator[None]:
    """Stop all processes of the server inside the block, as SIGSTOP and a dead machine do."""
    pid = server.pid
    assert pid is not None
    main = psutil.Process(pid)
    processes = [main, *main.children()]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


def place_within_bound(command: PlaceOrder, settings: Settings) -> str:
    """Place an order whose deadline is short, and check that it was kept."""
    settings.PLACING_DEADLINE_SECONDS = 1.0
    began = time.monotonic()
    code = place(command)
    assert time.monotonic() - began < 15
    settings.PLACING_DEADLINE_SECONDS = 10.0
    return code


def test_a_server_that_has_stopped_is_busy_by_the_deadline(server: PostgresServer, settings: Settings) -> None:
    """Nothing can have been done: no COMMIT was sent."""
    with connected_to(server):
        open_sale("stopped", total=5)
        command = wants("stopped")
        place(wants("stopped"))

        with stopped(server):
            assert place_within_bound(command, settings) == "busy"

        assert place(command) == "placed"
        prove("stopped")


def test_a_server_that_stops_before_the_commit_leaves_the_outcome_unknown(
    server: PostgresServer, settings: Settings
) -> None:
    """Nobody knows what it will do with the COMMIT when it goes on; the repeat gets the one order there is."""
    with connected_to(server):
        open_sale("silent", total=5)
        command = wants("silent")

        with stopping_when_decided(server):
            assert place_within_bound(command, settings) == "unknown"

        assert place(command) in {"placed", "replayed"}
        assert Order.objects.filter(request_id=command.request_id).count() == 1
        prove("silent")


@contextmanager
def stopping_when_decided(server: PostgresServer) -> Iterator[None]:
    """Stop the server when the first order is decided, until the end of the block."""
    decide = deciding.decide

    def decide_and_stop(*arguments: Any, **options: Any) -> Any:  # those of `decide`, and what it gives
        outcomes = decide(*arguments, **options)
        silence.enter_context(stopped(server))
        return outcomes

    with ExitStack() as silence, pytest.MonkeyPatch.context() as patch:
        patch.setattr(deciding, "decide", decide_and_stop)
        yield


def test_a_server_that_was_killed_is_found_again(server: PostgresServer, settings: Settings) -> None:
    """After a crash the sale goes on with what was committed; connections of before are given up."""
    settings.PLACING_DEADLINE_SECONDS = 20.0
    with connected_to(server):
        open_sale("killed", total=5)
        command = wants("killed")
        place(command)

        server.kill()
        server.start()

        assert place(command) == "replayed"
        assert place(wants("killed")) == "placed"
        prove("killed")
