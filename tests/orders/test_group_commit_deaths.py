"""Threads that are ended in the middle of a group commit leave nobody waiting, wherever they stood."""

import ctypes
import itertools
import linecache
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest
from pytest_django import Settings

from config.embedded.server import wait_until
from orders import group_commit, placing
from orders.command import PlaceOrder
from orders.exceptions import SoldOut
from orders.outcomes import Outcome, Refused
from tests.races.moments import SECONDS_MAX
from tests.races.sale import told, wants

#: Far longer than a batch takes here, far shorter than the patience of those who wait, which would hide a dead lane.
PROMPTLY_SECONDS = 10.0
PATIENCE_SECONDS = 60.0


class Gate:
    """What stands in for placing here: it needs no database, and can be shut."""

    def __init__(self) -> None:
        """Begin shut."""
        self.open = threading.Event()
        self._reached = threading.Event()

    def place(self, commands: Sequence[PlaceOrder]) -> list[Outcome]:
        """Answer a batch when the gate is open."""
        self._reached.set()
        while not self.open.wait(0.01):  # An exception from outside arrives between two short waits.
            pass
        return [Refused(SoldOut(available={}, held=False)) for _ in commands]

    def shut(self) -> None:
        """Let the next batches wait."""
        self.open.clear()
        self._reached.clear()

    def wait_until_reached(self, *, or_dead: threading.Thread) -> None:
        """Wait until a batch is here, or a thread has ended before it came so far."""
        assert wait_until(lambda: self._reached.is_set() or not or_dead.is_alive(), seconds=SECONDS_MAX)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Gate:
    """Put a gate in the place of placing, and give everybody more patience than a test has."""
    settings.PLACING_WAIT_SECONDS = settings.PLACING_DEADLINE_SECONDS = PATIENCE_SECONDS
    gate = Gate()
    monkeypatch.setattr(placing, "place", gate.place)
    return gate


@pytest.fixture
def threads(gate: Gate) -> Iterator[ThreadPoolExecutor]:
    """Give threads that have ended when the test has."""
    with ThreadPoolExecutor(8) as executor:
        yield executor
        gate.open.set()
    assert group_commit.queue_lengths() == {}


class Mortal(threading.Thread):
    """A thread that submits an order, and is ended at the nth line of the group commit, or from outside."""

    def __init__(self, *, line: int = 0) -> None:
        """Choose the line; 0 for none."""
        super().__init__(daemon=True)
        self.died = False
        self._line = line
        self._lines = itertools.count(1)
        self.start()

    def run(self) -> None:
        """Submit an order, and note whether the thread was ended."""
        sys.settrace(self._trace)
        try:
            group_commit.submit(wants("tee", buyer="mortal"))
        except SystemExit:
            self.died = True

    def end(self) -> None:
        """End the thread from outside, wherever it stands; it notices when it next runs Python code."""
        assert self.ident is not None
        number = ctypes.c_ulong(self.ident)
        assert ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(SystemExit)) == 1

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:  # as sys.settrace has it
        if frame.f_code.co_filename != group_commit.__file__:
            return None
        # Only a trace can come between the end of a `with` and its release: Python itself ends no thread there.
        is_with = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip().startswith("with ")
        if event == "line" and not is_with and next(self._lines) == self._line:
            raise SystemExit
        return self._trace


def submit(command: PlaceOrder) -> str:
    """Submit one order, and say what the buyer is told."""
    return told(group_commit.submit(command))


def results(futures: "Sequence[Future[str]]") -> list[str]:
    """Wait for what buyers are told."""
    return [future.result(PROMPTLY_SECONDS) for future in futures]


def wait_until_queued(length: int, *, or_dead: threading.Thread | None = None) -> None:
    """Wait until this many commands are queued, or a thread has ended before it came so far."""
    assert wait_until(
        lambda: group_commit.queue_lengths().get("tee") == length or (or_dead is not None and not or_dead.is_alive()),
        seconds=SECONDS_MAX,
    )


def test_a_leader_may_die_at_any_line(gate: Gate, threads: ThreadPoolExecutor) -> None:
    """Those who come behind him are placed, whether he died before his batch, in it, or after it."""
    for line in itertools.count(1):
        gate.shut()
        mortal = Mortal(line=line)
        gate.wait_until_reached(or_dead=mortal)
        others = [threads.submit(submit, wants("tee", buyer=f"b{n}")) for n in range(2)]
        gate.open.set()

        assert results(others) == ["sold_out", "sold_out"], f"line {line}"
        mortal.join(PROMPTLY_SECONDS)
        if not mortal.died:
            break
    assert line > 20


def test_a_waiter_may_die_at_any_line_also_when_he_has_become_the_leader(
    gate: Gate, threads: ThreadPoolExecutor
) -> None:
    """Those who wait with him are placed, or know that they know nothing: nobody waits for him."""
    for line in itertools.count(1):
        gate.shut()
        first = threads.submit(submit, wants("tee", buyer="first"))
        wait_until_queued(0)
        mortal = Mortal(line=line)
        wait_until_queued(1, or_dead=mortal)
        others = [threads.submit(submit, wants("tee", buyer=f"b{n}")) for n in range(2)]
        wait_until_queued(3 if mortal.is_alive() else 2)
        gate.open.set()

        assert first.result(PROMPTLY_SECONDS) == "sold_out"
        assert set(results(others)) <= {"sold_out", "unknown"}, f"line {line}"
        mortal.join(PROMPTLY_SECONDS)
        if not mortal.died:
            break
    assert line > 20


def test_a_leader_that_is_ended_in_placing_passes_the_lead(gate: Gate, threads: ThreadPoolExecutor) -> None:
    """An asynchronous exception, as servers use it against requests that take too long."""
    mortal = Mortal()
    gate.wait_until_reached(or_dead=mortal)
    others = [threads.submit(submit, wants("tee", buyer=f"b{n}")) for n in range(2)]
    wait_until_queued(2)

    mortal.end()
    mortal.join(PROMPTLY_SECONDS)
    gate.open.set()

    assert mortal.died
    assert results(others) == ["sold_out", "sold_out"]


def test_without_the_handover_a_dead_leader_stops_his_lane(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """The twin: whoever comes later waits for a thread that is no more."""
    settings.PLACING_WAIT_SECONDS = 0.5
    monkeypatch.setattr(group_commit, "_board", group_commit._Board())
    monkeypatch.setattr(group_commit._Board, "_abandon", lambda *_: None)
    mortal = Mortal()
    gate.wait_until_reached(or_dead=mortal)

    mortal.end()
    mortal.join(PROMPTLY_SECONDS)
    gate.open.set()

    assert submit(wants("tee")) == "busy"


def test_a_waiter_that_is_ended_as_the_lead_comes_to_him_passes_it_on(gate: Gate, threads: ThreadPoolExecutor) -> None:
    """He is asleep when he is ended, and learns of it as he is woken to lead."""
    first = threads.submit(submit, wants("tee", buyer="first"))
    wait_until_queued(0)
    mortal = Mortal()
    wait_until_queued(1)
    behind = threads.submit(submit, wants("tee", buyer="behind"))
    wait_until_queued(2)

    mortal.end()
    gate.open.set()

    assert results([first, behind]) == ["sold_out", "sold_out"]
    mortal.join(PROMPTLY_SECONDS)
    assert mortal.died


def test_a_batch_that_fails_as_nobody_foresaw_is_unknown_to_all_of_it(
    gate: Gate, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leader's thread raises it, those whom he took know nothing, and the lane goes on."""
    first = threads.submit(submit, wants("tee", buyer="first"))
    wait_until_queued(0)
    leader = threads.submit(submit, wants("tee", buyer="leader"))
    wait_until_queued(1)
    follower = threads.submit(submit, wants("tee", buyer="follower"))
    wait_until_queued(2)
    monkeypatch.setattr(placing, "place", fail)
    gate.open.set()

    with pytest.raises(RuntimeError, match="nobody foresaw"):
        leader.result(PROMPTLY_SECONDS)
    assert results([first, follower]) == ["sold_out", "unknown"]


def fail(commands: Sequence[PlaceOrder]) -> list[Outcome]:
    """Fail."""
    raise RuntimeError("nobody foresaw this")
