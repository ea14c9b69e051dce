"""Place a batch of orders: the one function that creates them."""

import logging
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError, connection, transaction
from psycopg_pool import PoolTimeout
from uuid_utils.compat import uuid7

from inventory import admissions
from orders import books, bounded, deciding, metrics
from orders.command import PlaceOrder
from orders.exceptions import Busy, OutcomeUnknown
from orders.outcomes import Broken, Outcome, Refused

logger = logging.getLogger(__name__)

#: Runs after the first, for a deadlock, a serialisation failure, a lost connection or a faster equal request.
RERUNS_MAX = 3
RERUN_PAUSE_SECONDS = 0.01
#: Between the runs that ask what became of a lost COMMIT.
RECONNECT_PAUSE_SECONDS = 0.1
#: The server's own time-outs come first; this one is for a server that hangs.
HUNG_SERVER_GRACE_SECONDS = 0.25
#: Of the deadline, for one wait for a row's lock.
LOCK_WAIT_SHARE = 0.5

ORDER_KEY_CONSTRAINT = "order_one_per_buyer_and_request_id"
CONFLICTS = {"40001", "40P01"}  # serialization_failure, deadlock_detected
#: lock_not_available, query_canceled (statement_timeout), too_many_connections, cannot_connect_now,
#: read_only_sql_transaction (a standby): the transaction has rolled back, nothing was done.
TOO_BUSY = {"55P03", "57014", "53300", "57P03", "25006"}
CONNECTION_LOST = {None, "57P01", "57P02", "08000", "08003", "08006"}


def place(commands: Sequence[PlaceOrder], *, deadline: float | None = None) -> list[Outcome]:
    """Place a batch in one transaction, and give one outcome per command, in their order.

    `deadline` is a reading of `time.monotonic()` that bounds all of it, retries included; a wait for the pool that
    began before it may end after it. A refusal among the outcomes wrote nothing. A command that breaks the transaction
    with its data is Broken alone: its neighbours are placed one by one. Raise nothing but what nobody foresaw.
    """
    if deadline is None:
        deadline = time.monotonic() + settings.PLACING_DEADLINE_SECONDS
    started_at = time.monotonic()
    try:
        outcomes = _together_or_one_by_one(commands, deadline)
    finally:
        # Back to the pool at once: a thread that waits for its buyers, or for the next batch, holds no connection.
        if not connection.in_atomic_block:
            connection.close()
    metrics.observe(outcomes, seconds=time.monotonic() - started_at)
    return outcomes


def _together_or_one_by_one(commands: Sequence[PlaceOrder], deadline: float) -> list[Outcome]:
    try:
        return _run(commands, deadline)
    except Exception as error:
        if len(commands) == 1:
            logger.exception("an order broke its transaction")
            return [Broken(error)]
    logger.warning("a batch of %d orders broke, placing them one by one", len(commands))
    return [outcome for command in commands for outcome in _together_or_one_by_one([command], deadline)]


def _run(commands: Sequence[PlaceOrder], deadline: float) -> list[Outcome]:
    """Run the transaction until it has an outcome; what is neither a race nor the database's state is raised."""
    attempt = _Attempt(deadline)
    while attempt.seconds_left() > 0:
        try:
            return attempt.run(commands)
        except IntegrityError as error:
            if _constraint(error) != ORDER_KEY_CONSTRAINT:
                raise
            if not attempt.may_rerun():
                return _all(commands, attempt.gave_up())
        except (OperationalError, InterfaceError) as error:
            refusal = attempt.judge(error)
            if refusal is not None:
                return _all(commands, refusal)
    return _all(commands, attempt.gave_up())


class _Attempt:
    """The runs of one batch: how many there were, and whether one of them may have committed unheard."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.reruns = 0
        self.was_committing = False

    def seconds_left(self) -> float:
        """Tell how much of the deadline is left."""
        return self.deadline - time.monotonic()

    def run(self, commands: Sequence[PlaceOrder]) -> list[Outcome]:
        """Run the transaction once."""
        is_committing = False
        try:
            with (
                bounded.answers_by(self.deadline + HUNG_SERVER_GRACE_SECONDS),
                _pipeline(),
                transaction.atomic(durable=True),
                _leaving_what_is_lost(),
            ):
                _limit_waits(self.seconds_left())
                read = books.read(commands)
                outcomes = deciding.decide(commands, read, new_id=uuid7)
                if read.placed:
                    books.write(read)
                is_committing = True
                _commit()
            admissions.learn(read.rows.values())
        except (OperationalError, InterfaceError) as error:
            # A server that says why it failed has not committed.
            self.was_committing |= is_committing and _state(error) in CONNECTION_LOST
            raise
        return outcomes

    def judge(self, error: DatabaseError | InterfaceError) -> Busy | None:
        """Give the refusal that an error of the database ends in, or None to run again, after a pause."""
        state = _state(error)
        is_wait_over = state in TOO_BUSY or isinstance(error.__cause__, PoolTimeout)
        is_lost = state in CONNECTION_LOST and not is_wait_over
        if is_lost:
            connection.close()
        if self.was_committing:
            # Only the books can say what the lost COMMIT did: a replay is found under the lock, or it never happened.
            time.sleep(RECONNECT_PAUSE_SECONDS)
            return None
        if is_wait_over:
            return Busy()
        if is_lost or state in CONFLICTS:
            return None if self.may_rerun() else Busy()
        logger.error("placing failed on the database", exc_info=error)
        return OutcomeUnknown()

    def may_rerun(self) -> bool:
        """Count a rerun and wait for its moment, with jitter; False when there were enough."""
        if self.reruns == RERUNS_MAX:
            return False
        self.reruns += 1
        time.sleep(random.uniform(0, RERUN_PAUSE_SECONDS * 2**self.reruns))  # noqa: S311 - jitter is no secret.
        return True

    def gave_up(self) -> Busy:
        """Say what a batch that never got an answer ends in."""
        return OutcomeUnknown() if self.was_committing else Busy()


@contextmanager
def _pipeline() -> Iterator[None]:
    """Send statements without waiting for the answers of those before: a batch takes three round trips, not twelve.

    Each round trip costs a thread of a busy process its turn at the interpreter as well. The writes and the COMMIT go
    together: if a write fails, PostgreSQL skips what was sent after it.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


@contextmanager
def _leaving_what_is_lost() -> Iterator[None]:
    """Close a lost connection inside its transaction: atomic() would wait for a new one, only to end what is gone."""
    try:
        yield
    except (OperationalError, InterfaceError):
        if connection.connection.closed:
            connection.close()
        raise


def _commit() -> None:
    """Commit inside the block of atomic(), whose own commit then has nothing to do: a loss is noticed inside, too."""
    with connection.wrap_database_errors:
        connection.connection.commit()


def _state(error: DatabaseError | InterfaceError) -> str | None:
    state: str | None = getattr(error.__cause__, "sqlstate", None)
    return state


def _limit_waits(seconds_left: float) -> None:
    """Bound each statement, and each wait for a lock, by what is left of the deadline."""
    statement_ms = max(1, int(seconds_left * 1000))
    lock_ms = max(1, int(seconds_left * 1000 * LOCK_WAIT_SHARE))
    with connection.cursor() as cursor:
        cursor.execute(LIMITS_SQL, [str(statement_ms), str(lock_ms)])


LIMITS_SQL = "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)"


def _all(commands: Sequence[PlaceOrder], refusal: Busy) -> list[Outcome]:
    return [Refused(refusal) for _ in commands]


def _constraint(error: IntegrityError) -> str | None:
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None)
