"""A circuit breaker: a server that failed is left alone for a moment, so that not every request waits for it."""

import threading
import time


class Breaker:
    """Say whether to try a server, by what became of earlier tries in this process.

    After a failure nobody tries for `rest_seconds`; then one caller does, and the others go on without until it has
    succeeded. (Nygard, Release It!, "Circuit Breaker".)
    """

    def __init__(self, *, rest_seconds: float) -> None:
        """Start closed: everybody tries."""
        self._rest_seconds = rest_seconds
        self._lock = threading.Lock()
        self._is_open = False
        self._rests_until = 0.0

    def lets_try(self) -> bool:
        """Tell whether the caller is to try; whoever does says `succeeded` or `failed` afterwards."""
        # Read without the lock: it is closed in almost every call, and a try too many is no harm.
        if not self._is_open:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._rests_until:
                return False
            self._rests_until = now + self._rest_seconds
            return True

    def succeeded(self) -> None:
        """Let everybody try again."""
        self._is_open = False

    def failed(self) -> None:
        """Leave the server alone."""
        with self._lock:
            self._rests_until = time.monotonic() + self._rest_seconds
            self._is_open = True
