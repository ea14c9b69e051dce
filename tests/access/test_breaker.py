"""The circuit breaker."""

import pytest

from access import breaker
from access.breaker import Breaker


class _Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    """Let the breaker read a clock that a test moves."""
    clock = _Clock()
    monkeypatch.setattr(breaker, "time", clock)
    return clock


def test_everybody_tries_what_works(clock: _Clock) -> None:
    """A breaker that has seen no failure is not there."""
    switch = Breaker(rest_seconds=1.0)

    assert all(switch.lets_try() for _ in range(3))


def test_nobody_tries_while_it_rests(clock: _Clock) -> None:
    """A failure is paid once, not by every request."""
    switch = Breaker(rest_seconds=1.0)
    switch.failed()

    clock.now += 0.99

    assert not switch.lets_try()


def test_after_the_rest_one_tries_for_all(clock: _Clock) -> None:
    """The others go on without, until he has come back."""
    switch = Breaker(rest_seconds=1.0)
    switch.failed()
    clock.now += 1.0

    assert [switch.lets_try() for _ in range(3)] == [True, False, False]

    switch.succeeded()
    assert all(switch.lets_try() for _ in range(3))


def test_who_never_comes_back_is_followed_by_another(clock: _Clock) -> None:
    """A thread may die while it tries."""
    switch = Breaker(rest_seconds=1.0)
    switch.failed()
    clock.now += 1.0
    switch.lets_try()

    clock.now += 1.0

    assert switch.lets_try()
