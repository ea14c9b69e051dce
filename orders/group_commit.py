"""Group commit: the requests of one product that wait at the same time share one transaction.

A request thread puts its command in its product's lane. The thread that finds no leader becomes the leader: it takes
what is queued, places it, wakes the others, and hands the lead to one who still waits. There is no timer: while one
commit is on its way to disk the next batch gathers, and a lone request is not delayed. The idea is that of PostgreSQL's
own commit (`commit_siblings`) and of every write-ahead log since DeWitt et al., "Implementation Techniques for Main
Memory Database Systems" (1984); here it is one step further up, where the contended row is.
"""

import os
import threading
from collections import deque
from enum import Enum, auto

from django.conf import settings

from orders import placing
from orders.command import PlaceOrder
from orders.exceptions import Busy, OutcomeUnknown, RequestInProgress
from orders.outcomes import Outcome, Refused

#: The lane of all orders of several products: their batches lock many rows, and must not hold up a single product's.
SHARED_LANE = ""
#: The leader's own bound is the deadline; a waiter gives it this much longer to tell.
GRACE_SECONDS = 0.5


def submit(command: PlaceOrder) -> Outcome:
    """Place a command together with those that wait at the same time; block until its outcome is known.

    Refused with Busy where the lane is full or the wait for a batch is over; with RequestInProgress where an equal
    request of this process is still running; with OutcomeUnknown where a batch took longer than its deadline.
    """
    return _board.submit(command)


def queue_lengths() -> dict[str, int]:
    """Tell how many commands are queued, by lane."""
    return _board.queue_lengths()


class _State(Enum):
    QUEUED = auto()
    LEADING = auto()
    TAKEN = auto()
    DONE = auto()


class _Ticket:
    """A command's place in its lane. Its state changes under the board's mutex, but for DONE, which is final."""

    __slots__ = ("command", "outcome", "state", "wake")

    def __init__(self, command: PlaceOrder) -> None:
        self.command = command
        self.state = _State.QUEUED
        self.outcome: Outcome | None = None
        self.wake = threading.Event()

    def finish(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.state = _State.DONE
        self.wake.set()


class _Lane:
    """The commands of one product that wait, and the batch that is on its way."""

    def __init__(self) -> None:
        self.queue: deque[_Ticket] = deque()
        self.taken: list[_Ticket] = []
        self.has_leader = False

    def take(self) -> list[_Ticket]:
        """Take the next batch from the front; whoever leads stands in it, for the lead goes to the front."""
        self.taken = [self.queue.popleft() for _ in range(min(len(self.queue), settings.PLACING_BATCH_MAX))]
        for ticket in self.taken:
            ticket.state = _State.TAKEN
        return self.taken

    def pass_lead(self) -> None:
        """Hand the lead to the one who waits longest."""
        self.taken = []
        self.has_leader = bool(self.queue)
        if self.has_leader:
            self.queue[0].state = _State.LEADING
            self.queue[0].wake.set()

    def leave(self, ticket: _Ticket) -> Outcome:
        """Let a waiter go who was not taken."""
        self.queue.remove(ticket)
        if ticket.state is _State.LEADING:
            self.pass_lead()
        is_running = any(taken.command.key == ticket.command.key for taken in self.taken)
        return Refused(RequestInProgress() if is_running else Busy())


class _Board:
    """All lanes of a process. The mutex is held for moments, never over a query."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._lanes: dict[str, _Lane] = {}

    def queue_lengths(self) -> dict[str, int]:
        with self._mutex:
            return {name: len(lane.queue) for name, lane in self._lanes.items()}

    def submit(self, command: PlaceOrder) -> Outcome:
        name = command.lines[0].sku if len(command.lines) == 1 else SHARED_LANE
        ticket = _Ticket(command)
        with self._mutex:
            lane = self._lanes.setdefault(name, _Lane())
            if len(lane.queue) >= settings.PLACING_LANE_MAX:
                return Refused(Busy())
            lane.queue.append(ticket)
            if not lane.has_leader:
                lane.has_leader = True
                ticket.state = _State.LEADING
        return self._lead(name, lane, ticket) if ticket.state is _State.LEADING else self._wait(name, lane, ticket)

    def _wait(self, name: str, lane: _Lane, ticket: _Ticket) -> Outcome:
        try:
            if not ticket.wake.wait(settings.PLACING_WAIT_SECONDS):
                with self._mutex:
                    if ticket.state is _State.QUEUED:
                        return lane.leave(ticket)
                ticket.wake.wait(settings.PLACING_DEADLINE_SECONDS + GRACE_SECONDS)
        except BaseException:
            self._abandon(name, lane, ticket)
            raise
        if ticket.state is _State.LEADING:
            return self._lead(name, lane, ticket)
        return ticket.outcome or Refused(OutcomeUnknown())

    def _lead(self, name: str, lane: _Lane, ticket: _Ticket) -> Outcome:
        with self._mutex:
            batch = lane.take()
        try:
            outcomes = placing.place([taken.command for taken in batch])
        except BaseException:
            # The thread is being ended (exit, an asynchronous exception): nobody may be left waiting for it.
            outcomes = [Refused(OutcomeUnknown())] * len(batch)
            raise
        finally:
            self._pass_lead(name, lane)
            for taken, outcome in zip(batch, outcomes, strict=True):
                taken.finish(outcome)
        assert ticket.outcome is not None, "a leader stands in its own batch"
        return ticket.outcome

    def _pass_lead(self, name: str, lane: _Lane) -> None:
        with self._mutex:
            lane.pass_lead()
            self._forget_if_empty(name, lane)

    def _abandon(self, name: str, lane: _Lane, ticket: _Ticket) -> None:
        """Take out a waiter whose thread is being ended: its lane must not wait for its lead."""
        with self._mutex:
            if ticket.state in (_State.QUEUED, _State.LEADING):
                lane.leave(ticket)
                self._forget_if_empty(name, lane)

    def _forget_if_empty(self, name: str, lane: _Lane) -> None:
        if not lane.has_leader:
            del self._lanes[name]


_board = _Board()


def _start_afresh() -> None:
    """Forget the parent's lanes and connections: their threads and sockets are not the child's."""
    global _board  # noqa: PLW0603 - the board is the process's, and this is a new process.
    _board = _Board()


os.register_at_fork(after_in_child=_start_afresh)
