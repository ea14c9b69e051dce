"""Taking one claim, from the first question to the deadline: the steps, and who walks them, a thread or a task.

The steps know no thread and no loop (sans I/O), so both walk the same ones.
"""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from locking import clock, forks
from locking.backends.base import Backend
from locking.claims import Claim, Granted, Refused, Word
from locking.exceptions import LockBackendError, LockTimeout
from locking.lines import Mailbox, TaskMailbox, ThreadMailbox

#: Between two questions to a server that did not answer.
PAUSE_SECONDS = 0.05
#: Who stands in line behind others of its process looks this often whether the first one's event loop was closed.
LOOK_SECONDS = 1.0
#: Questions of tasks that are on their way at once in one process; each is one round trip long.
ASKING_TASKS_MAX = 32


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the backend once; stand in line for `wait_seconds` if it refuses."""

    wait_seconds: float


@dataclass(frozen=True, slots=True)
class Read:
    """Read the mailbox, until the clock says so at the latest."""

    until: float


@dataclass(frozen=True, slots=True)
class Grant:
    """A claim that was granted, and the clock before its question was sent: the lease is at least as young."""

    fence: int
    sent_at: float


# What is sent in is the reply to the step, whose type depends on the step.
Steps = Generator[Ask | Read, Any, Grant]


def acquire(backend: Backend, claim: Claim, *, wait_seconds: float) -> Grant:
    """Take the claim, waiting in this thread; raise LockTimeout or LockBackendError."""
    mailbox = ThreadMailbox()
    steps = _steps(backend, claim, mailbox, wait_seconds=wait_seconds)
    try:
        step = next(steps)
        while True:
            try:
                reply = _do(step, backend, claim, mailbox)
            except LockBackendError as error:
                step = steps.throw(error)
            else:
                step = steps.send(reply)
    except StopIteration as done:
        grant: Grant = done.value
        return grant
    except LockTimeout:
        raise  # The last question has left the line.
    except BaseException:
        steps.close()
        backend.abandon(claim)
        raise
    finally:
        backend.forget(claim)


async def aacquire(backend: Backend, claim: Claim, *, wait_seconds: float) -> Grant:
    """Take the claim, waiting in this task; a cancelled task leaves nothing behind."""
    mailbox = TaskMailbox()
    steps = _steps(backend, claim, mailbox, wait_seconds=wait_seconds)
    asked: list[Future[Granted | Refused]] = []
    try:
        step = next(steps)
        while True:
            try:
                reply = await _ado(step, backend, claim, mailbox, asked)
            except LockBackendError as error:
                step = steps.throw(error)
            else:
                step = steps.send(reply)
    except StopIteration as done:
        grant: Grant = done.value
        return grant
    except LockTimeout:
        raise  # The last question has left the line.
    except BaseException:
        steps.close()
        for asking in asked[-1:]:  # A question on its way may still be granted.
            asking.add_done_callback(lambda _: backend.abandon(claim))
        raise
    finally:
        backend.forget(claim)


def _do(step: Ask | Read, backend: Backend, claim: Claim, mailbox: ThreadMailbox) -> object:
    if isinstance(step, Ask):
        return backend.ask(claim, wait_seconds=step.wait_seconds, post=mailbox.post)
    return mailbox.read(until=step.until)


async def _ado(
    step: Ask | Read, backend: Backend, claim: Claim, mailbox: TaskMailbox, asked: "list[Future[Granted | Refused]]"
) -> object:
    if isinstance(step, Read):
        return await mailbox.read(until=step.until)
    asked.append(_tasks.executor.submit(partial(backend.ask, claim, wait_seconds=step.wait_seconds, post=mailbox.post)))
    return await asyncio.wrap_future(asked[-1])


def _steps(backend: Backend, claim: Claim, mailbox: Mailbox, *, wait_seconds: float) -> Steps:
    deadline = clock.now() + wait_seconds
    if wait_seconds <= 0:
        return (yield from _last_try(backend, claim, deadline=deadline))
    key = (claim.kind, claim.name)
    backend.lines.join(key, mailbox)
    try:
        while not backend.lines.is_first(key, mailbox) and clock.now() < deadline:
            yield Read(min(deadline, clock.now() + LOOK_SECONDS))
            backend.lines.drop_dead(key)
        while (remaining := deadline - clock.now()) > 0:
            reply, sent_at = yield from _ask(backend, remaining, deadline=deadline)
            if isinstance(reply, Granted):
                return Grant(reply.fence, sent_at)
            yield from _wait(min(deadline, clock.now() + reply.recheck_seconds))
        return (yield from _last_try(backend, claim, deadline=deadline))
    finally:
        backend.lines.leave(key, mailbox)


def _wait(until: float) -> Generator[Read, Word, None]:
    """Read words until one says that it is worth asking, or time is up."""
    while (word := (yield Read(until))) is not None:
        until = min(until, clock.now() + word)


def _last_try(backend: Backend, claim: Claim, *, deadline: float) -> Steps:
    """Ask without standing in line: takes what was offered a moment ago, or leaves the line."""
    reply, sent_at = yield from _ask(backend, 0.0, deadline=deadline)
    if isinstance(reply, Granted):
        return Grant(reply.fence, sent_at)
    raise LockTimeout(f"{claim.kind} {claim.name!r} is held by another")


def _ask(
    backend: Backend, wait_seconds: float, *, deadline: float
) -> Generator[Ask | Read, Any, tuple[Granted | Refused, float]]:
    """Ask once; again and again for the backend's patience while its server does not answer."""
    give_up_at = min(deadline, clock.now() + backend.patience_seconds)
    while True:
        sent_at = clock.now()
        try:
            return (yield Ask(wait_seconds)), sent_at
        except LockBackendError:
            if clock.now() + PAUSE_SECONDS >= give_up_at:
                raise
        yield Read(clock.now() + PAUSE_SECONDS)


async def in_thread(function: Callable[[], None]) -> None:
    """Run a function in a thread; it is run to its end also if the task is cancelled."""
    await asyncio.shield(asyncio.wrap_future(_tasks.executor.submit(function)))


class _Tasks:
    """The threads in which questions of tasks are asked."""

    def __init__(self) -> None:
        self.begin_anew()
        forks.begin_anew(self)

    def begin_anew(self) -> None:
        """Begin without a thread; the first question starts one."""
        self.executor = ThreadPoolExecutor(ASKING_TASKS_MAX, thread_name_prefix="locking-ask")


_tasks = _Tasks()
