"""Several real processes that begin at one moment and end within a bound."""

import multiprocessing
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections

#: For a race of seconds on a machine that is busy with other things.
SECONDS_MAX = 60.0
# Forked from a process of one thread that has loaded everything and opened no connection: real processes, started in
# milliseconds.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["__main__", "tests.races.ready"])

#: Takes a protection away in the process that calls it.
Damage = Callable[[pytest.MonkeyPatch], None]


def race(job: Callable[..., Any], *arguments: Sequence[Any], damage: Damage | None = None) -> list[Any]:
    """Call `job` once for each row of arguments, each in a process of its own, all at one moment.

    Give what the calls returned, in their order. Job, arguments and results must be picklable.
    """
    barrier = CONTEXT.Barrier(len(arguments))
    with _started([(job, row, barrier, damage) for row in arguments]) as pipes:
        return [_result(pipe) for pipe in pipes]


@contextmanager
def one(job: Callable[..., Any], *arguments: Any, damage: Damage | None = None) -> Iterator[BaseProcess]:
    """Run `job` in a process of its own while the block runs; it is killed at the end of the block."""
    pipe, end = CONTEXT.Pipe(duplex=False)
    barrier = CONTEXT.Barrier(1)  # It lives as long as this name, and the process may come late.
    process = _start(job, arguments, barrier, damage, end)
    end.close()
    try:
        yield process
    finally:
        _end(process)
        pipe.close()


@contextmanager
def _started(
    calls: Sequence[tuple[Callable[..., Any], Sequence[Any], Barrier, Damage | None]],
) -> Iterator[list[Connection]]:
    pipes, processes = [], []
    try:
        for call in calls:
            pipe, end = CONTEXT.Pipe(duplex=False)
            pipes.append(pipe)
            processes.append(_start(*call, end))
            end.close()
        yield pipes
    finally:
        for process in processes:
            _end(process)
        for pipe in pipes:
            pipe.close()


def _start(
    job: Callable[..., Any], arguments: Sequence[Any], barrier: Barrier, damage: Damage | None, end: Connection
) -> BaseProcess:
    database = connection.settings_dict["NAME"]
    # Before Python 3.13 the fork server is not told of sys.path, and goes on in silence without what it cannot import.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(settings.BASE_DIR))
        forkserver.ensure_running()
    process = CONTEXT.Process(target=_run, args=(job, arguments, barrier, damage, end, database), daemon=True)
    process.start()
    return process


def _end(process: BaseProcess) -> None:
    process.kill()
    process.join(SECONDS_MAX)


def _result(pipe: Connection) -> Any:
    if not pipe.poll(SECONDS_MAX):
        raise TimeoutError(f"a process of the crowd did not end within {SECONDS_MAX:.0f} s")
    result, error = pipe.recv()
    assert error is None, error
    return result


def _run(
    job: Callable[..., Any],
    arguments: Sequence[Any],
    barrier: Barrier,
    damage: Damage | None,
    end: Connection,
    database: str,
) -> None:
    connections.settings["default"]["NAME"] = database
    try:
        if damage is not None:
            damage(pytest.MonkeyPatch())
        connection.ensure_connection()  # The pool is open before the race begins.
        connection.close()
        barrier.wait(SECONDS_MAX)
        end.send((job(*arguments), None))
    except BaseException:
        end.send((None, traceback.format_exc()))
