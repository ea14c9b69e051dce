"""One thread per process and backend that hears, on a channel of its own, what the scripts tell its waiters."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError

from locking.claims import Claim, Post, new_token

#: How long a waiter waits for the subscription; without one it asks by itself.
SUBSCRIBE_SECONDS = 1.0
#: A silent connection is asked whether it lives; if it does not answer for as long again, it is replaced.
SILENCE_SECONDS = 5.0
PAUSE_SECONDS = 0.1


class Listener:
    """Posts to the mailbox of a token what was published for it. After a new connection all are told to ask."""

    def __init__(self, connect: Callable[[], Any], *, prefix: str) -> None:
        """Listen with clients that `connect` gives; the first waiter starts the thread."""
        self.channel = f"{prefix}:wake:{new_token()}"
        self._connect = connect
        self._lock = threading.Lock()
        self._posts: dict[str, Post] = {}
        self._subscribed = threading.Event()
        self._thread: threading.Thread | None = None

    def expect(self, claim: Claim, post: Post) -> bool:
        """Post to this claim from now on; False if nothing can be heard at present."""
        self._posts[claim.token] = post
        if self._subscribed.is_set():
            return True
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="locking-listener", daemon=True)
                self._thread.start()
        return self._subscribed.wait(SUBSCRIBE_SECONDS)

    def forget(self, claim: Claim) -> None:
        """Post nothing more to this claim."""
        self._posts.pop(claim.token, None)

    def _run(self) -> None:
        while True:
            with suppress(RedisError, OSError):
                self._listen()
            self._subscribed.clear()
            self._wake_all()
            time.sleep(PAUSE_SECONDS)

    def _listen(self) -> None:
        pubsub = self._connect().pubsub()
        try:
            pubsub.subscribe(self.channel)
            was_silent = False
            while True:
                message = pubsub.get_message(timeout=SILENCE_SECONDS)
                if message is None and was_silent:
                    return
                was_silent = message is None
                if message is None:
                    pubsub.ping()
                elif message["type"] == "subscribe":
                    self._subscribed.set()
                    self._wake_all()
                elif message["type"] == "message":
                    self._deliver(message["data"])
        finally:
            pubsub.close()

    def _deliver(self, data: bytes) -> None:
        token, _, remaining_ms = data.decode().partition(" ")
        post = self._posts.get(token)
        if post is not None:
            post(int(remaining_ms) / 1000 if remaining_ms else None)

    def _wake_all(self) -> None:
        """Let everyone ask: what was said while nobody heard is lost."""
        for post in list(self._posts.values()):
            post(None)
