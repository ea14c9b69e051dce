"""Waiting inside one process: mailboxes that wake a thread or a task, and the line in which its waiters stand."""

import asyncio
import threading
from collections import deque
from queue import Empty, SimpleQueue
from typing import Protocol

from locking import clock
from locking.claims import Word


class Mailbox(Protocol):
    """Where one waiter is told that it is worth asking again."""

    def post(self, word: Word) -> bool:
        """Leave a word, from any thread; False if nobody will ever read it."""
        ...

    def is_dead(self) -> bool:
        """Tell whether nobody will ever read it."""
        ...


class ThreadMailbox:
    """A mailbox that a thread reads."""

    def __init__(self) -> None:
        """Begin empty."""
        self._words: SimpleQueue[Word] = SimpleQueue()

    def post(self, word: Word) -> bool:
        """Leave a word, from any thread."""
        self._words.put(word)
        return True

    def is_dead(self) -> bool:
        """Tell that a thread always comes back to read."""
        return False

    def read(self, *, until: float) -> Word:
        """Return the next word; None when the clock has reached `until`."""
        try:
            return self._words.get(timeout=max(0.0, until - clock.now()))
        except Empty:
            return None


class TaskMailbox:
    """A mailbox that a task of a running event loop reads."""

    def __init__(self) -> None:
        """Begin empty, for the running loop."""
        self._loop = asyncio.get_running_loop()
        self._words: deque[Word] = deque()
        self._reader: asyncio.Future[None] | None = None

    def post(self, word: Word) -> bool:
        """Leave a word, from any thread; False if the loop is closed."""
        try:
            self._loop.call_soon_threadsafe(self._deliver, word)
        except RuntimeError:
            return False
        return True

    def is_dead(self) -> bool:
        """Tell whether the loop was closed."""
        return self._loop.is_closed()

    async def read(self, *, until: float) -> Word:
        """Return the next word; None when the clock has reached `until`."""
        if not self._words:
            self._reader = self._loop.create_future()
            timer = self._loop.call_later(max(0.0, until - clock.now()), self._deliver, None)
            try:
                await self._reader
            finally:
                timer.cancel()
                self._reader = None
        return self._words.popleft()

    def _deliver(self, word: Word) -> None:
        self._words.append(word)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class Lines:
    """One line per lock and process: who stands first asks the server, the others cost it nothing."""

    def __init__(self) -> None:
        """Begin with no line."""
        self._lock = threading.Lock()
        self._lines: dict[tuple[str, str], deque[Mailbox]] = {}

    def join(self, key: tuple[str, str], mailbox: Mailbox) -> None:
        """Stand in line, last."""
        with self._lock:
            self._lines.setdefault(key, deque()).append(mailbox)

    def is_first(self, key: tuple[str, str], mailbox: Mailbox) -> bool:
        """Tell whether it is this mailbox's turn to ask the server."""
        with self._lock:
            return self._lines[key][0] is mailbox

    def leave(self, key: tuple[str, str], mailbox: Mailbox) -> None:
        """Leave the line, and tell who is first now. Those whose loop is closed are sent away."""
        with self._lock:
            line = self._lines.get(key)
            if line is None or mailbox not in line:
                return  # It was sent away.
            was_first = line[0] is mailbox
            line.remove(mailbox)
            while line and was_first and not line[0].post(None):
                line.popleft()
            if not line:
                del self._lines[key]

    def drop_dead(self, key: tuple[str, str]) -> None:
        """Send away a first one whose loop was closed while it waited: it will never leave by itself."""
        with self._lock:
            line = self._lines[key]
            while line[0].is_dead():
                line.popleft()
