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
from itertools import islice

from django.conf import settings
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from inventory.exceptions import Refusal
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


class _Ticket:
    """A command's place in its lane. Its state changes under the board's mutex."""

    __slots__ = ("batch", "command", "lane_name", "outcome", "state", "wake")

    def __init__(self, command: PlaceOrder) -> None:
        self.command = command
        self.lane_name = command.lines[0].sku if len(command.lines) == 1 else SHARED_LANE
        self.state = _State.QUEUED
        self.outcome: Outcome | None = None
        #: Set when the ticket leads, and when it has its outcome.
        self.wake = threading.Event()
        #: What its thread took as the leader, itself among them.
        self.batch: list[_Ticket] = []

    def finish(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.wake.set()


class _Lane:
    """The commands of one product that wait, the one whose thread leads, and the batch that is on its way.

    A thread may be ended between any two lines of this: what is half done can be done again.
    """

    def __init__(self) -> None:
        self.queue: deque[_Ticket] = deque()
        self.taken: list[_Ticket] = []
        self.leader: _Ticket | None = None

    def join(self, ticket: _Ticket) -> None:
        """Queue a ticket; where nobody leads, its thread does."""
        self.queue.append(ticket)
        if self.leader is None:
            self.pass_lead()

    def take(self, leader: _Ticket) -> list[_Ticket]:
        """Take the next batch from the front; whoever leads stands in it, for the lead goes to the front."""
        leader.batch = self.taken = list(islice(self.queue, settings.PLACING_BATCH_MAX))
        for ticket in self.taken:
            ticket.state = _State.TAKEN
        for _ in self.taken:
            self.queue.popleft()
        return self.taken

    def pass_lead(self) -> None:
        """Hand the lead to the one who waits longest."""
        self.taken = []
        following = self.queue[0] if self.queue else None
        if following is not None:
            following.state = _State.LEADING
            following.wake.set()
        self.leader = following

    def leave(self, ticket: _Ticket) -> None:
        """Let a ticket go, whatever its thread was doing, and those that it has taken."""
        self.queue = deque(other for other in self.queue if other is not ticket and other.state is not _State.TAKEN)
        if self.leader is ticket:
            self.pass_lead()

    def is_running(self, command: PlaceOrder) -> bool:
        """Tell whether an equal request is in the batch that is on its way."""
        return any(taken.command.key == command.key for taken in self.taken)


class _Board:
    """All lanes of a process. The mutex is held for moments, never over a query."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._lanes: dict[str, _Lane] = {}

    def queue_lengths(self) -> dict[str, int]:
        with self._mutex:
            return {name: len(lane.queue) for name, lane in self._lanes.items()}

    def submit(self, command: PlaceOrder) -> Outcome:
        ticket = _Ticket(command)
        try:
            return self._submit(ticket)
        except BaseException:
            # The thread is being ended (exit, an asynchronous exception): nobody may be left waiting for it.
            self._abandon(ticket)
            raise

    def _submit(self, ticket: _Ticket) -> Outcome:
        with self._mutex:
            lane = self._lanes.setdefault(ticket.lane_name, _Lane())
            if len(lane.queue) >= settings.PLACING_LANE_MAX:
                return Refused(Busy())
            lane.join(ticket)
        if not ticket.wake.wait(settings.PLACING_WAIT_SECONDS):
            refusal = self._give_up(lane, ticket)
            if refusal is not None:
                return Refused(refusal)
            if ticket.state is _State.TAKEN:
                ticket.wake.wait(settings.PLACING_DEADLINE_SECONDS + GRACE_SECONDS)
        if ticket.state is _State.LEADING:
            self._lead(lane, ticket)
        return ticket.outcome or Refused(OutcomeUnknown())

    def _give_up(self, lane: _Lane, ticket: _Ticket) -> Refusal | None:
        """Let a waiter go who is still queued; None where it leads by now, or was taken."""
        with self._mutex:
            if ticket.state is not _State.QUEUED:
                return None
            lane.leave(ticket)
            return RequestInProgress() if lane.is_running(ticket.command) else Busy()

    def _lead(self, lane: _Lane, ticket: _Ticket) -> None:
        with self._mutex:
            batch = lane.take(ticket)
        outcomes = placing.place([taken.command for taken in batch])
        with self._mutex:
            lane.pass_lead()
            self._forget_if_empty(lane, ticket)
        for taken, outcome in zip(batch, outcomes, strict=True):
            taken.finish(outcome)

    def _abandon(self, ticket: _Ticket) -> None:
        """Pass on the lead of a thread that is being ended, and answer those whom it has taken."""
        with self._mutex:
            lane = self._lanes.get(ticket.lane_name)
            if lane is not None:
                lane.leave(ticket)
                self._forget_if_empty(lane, ticket)
        for taken in ticket.batch:
            if taken.state is _State.TAKEN:
                taken.finish(taken.outcome or Refused(OutcomeUnknown()))

    def _forget_if_empty(self, lane: _Lane, ticket: _Ticket) -> None:
        if lane.leader is None:
            self._lanes.pop(ticket.lane_name, None)


_board = _Board()
#: A parent's pools and connection: a child must not use them, and closing them would speak on the parent's sockets.
_inherited: list[object] = []


def _start_afresh() -> None:
    """Forget the parent's lanes and connections: their threads and sockets are not the child's."""
    global _board  # noqa: PLW0603 - the board is the process's, and this is a new process.
    _board = _Board()
    pools = DatabaseWrapper._connection_pools  # type: ignore[attr-defined]  # Django's own; the stubs do not know it
    _inherited.extend([dict(pools), connection.connection])
    pools.clear()
    connection.connection = None


os.register_at_fork(after_in_child=_start_afresh)
