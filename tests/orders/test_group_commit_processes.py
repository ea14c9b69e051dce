"""The group commit and its process: a fork in the middle, and a web worker that is told to end."""

import http.client
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from access import tokens
from config.embedded.server import wait_until
from orders import group_commit
from orders.command import PlaceOrder
from orders.models import Order
from orders.stampede import site
from tests import workers
from tests.races import crowd, moments
from tests.races.moments import SECONDS_MAX
from tests.races.sale import open_sale, prove, told, wants

pytestmark = pytest.mark.django_db(transaction=True)


def submit(command: PlaceOrder) -> str:
    """Submit one order, and say what the buyer is told."""
    return told(group_commit.submit(command))


# --- Fork ---------------------------------------------------------------------------------------


def fork_in_the_middle() -> tuple[str, list[str]]:
    """Fork while one batch is on its way and others wait; say what the child was told, and then the parent's."""
    stop = moments.stop_before(pytest.MonkeyPatch(), "orders.placing.place")
    threads = ThreadPoolExecutor(4)
    futures = [threads.submit(submit, wants("tee", buyer=f"b{n}")) for n in range(4)]
    assert wait_until(lambda: group_commit.queue_lengths().get("tee") == 3, seconds=SECONDS_MAX)
    connection.ensure_connection()
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            os.write(writer, submit(wants("tee", buyer="child")).encode())
        finally:
            os._exit(0)
    os.close(writer)
    child = os.read(reader, 100).decode()
    stop.let_go()
    return child, [*[future.result(SECONDS_MAX) for future in futures], submit(wants("tee", buyer="parent"))]


def keep_the_lanes_of_the_parent(patch: pytest.MonkeyPatch) -> None:
    """Let a child go on with the lanes, whose leaders are threads that it does not have."""
    board = group_commit._board
    patch.setattr(group_commit, "_Board", lambda: board)
    patch.setattr(settings, "PLACING_WAIT_SECONDS", 0.5)


def test_a_fork_in_the_middle_leaves_nobody_waiting() -> None:
    """The child begins with empty lanes and connections of its own; the parent's are as they were."""
    open_sale(total=9)

    [(child, parent)] = crowd.race(fork_in_the_middle, [])

    assert (child, parent) == ("placed", ["placed"] * 5)
    assert Order.objects.count() == 6
    prove()


def test_a_child_that_kept_the_lanes_would_wait_for_threads_it_does_not_have() -> None:
    """The twin: the leader of its lane was left in the parent."""
    open_sale(total=9)

    [(child, _)] = crowd.race(fork_in_the_middle, [], damage=keep_the_lanes_of_the_parent)

    assert child == "busy"


# --- Shutdown -----------------------------------------------------------------------------------


def buy_until_it_ends(address: str, number: int, answers: list[str]) -> None:
    """Order again and again until the connection is refused or broken; note what the buyer is told."""
    token = tokens.issue(f"b{number}", scopes=[], seconds=600)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for turn in range(100_000):
        body = json.dumps({"request_id": f"r{turn}", "lines": [{"product": "tee", "quantity": 1}]})
        client = http.client.HTTPConnection(address, timeout=SECONDS_MAX)
        try:
            client.request("POST", "/api/v1/orders/", body, headers)
            answers.append(str(client.getresponse().status))
        except TimeoutError:
            answers.append("nothing")
            return
        except (OSError, http.client.HTTPException):
            answers.append("broken")
            return
        finally:
            client.close()


def test_a_web_worker_that_is_told_to_end_leaves_no_client_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM under load: each client has an answer or a broken connection, and what was answered is in the books."""
    workers.share_database(monkeypatch)
    open_sale(total=1_000_000)
    answers: list[str] = []

    with ThreadPoolExecutor(24) as clients:
        with site.own_site(project="config", workers=1, threads=16) as url:
            for number in range(24):
                clients.submit(buy_until_it_ends, urlsplit(url).netloc, number, answers)
            assert wait_until(lambda: answers.count("201") > 200, seconds=SECONDS_MAX)
            told_to_end_at = time.monotonic()
        assert time.monotonic() - told_to_end_at < site.STOP_SECONDS, "it had to be killed"

    assert set(answers) <= {"201", "429", "503", "broken"}
    assert answers.count("201") <= Order.objects.count() <= answers.count("201") + answers.count("broken")
    prove()
