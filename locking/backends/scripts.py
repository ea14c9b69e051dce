"""The Lua scripts: read once, called by their digest, and sent again to a server that has forgotten them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ReadOnlyError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from locking.exceptions import LockBackendError

DIRECTORY = Path(__file__).parent / "lua"
Argument = str | int
# Whatever a script returns: the client is typed for sync and async at once.
Reply = Any


class Script:
    """One script. Every one may be called twice with the same arguments, so a lost answer is asked for again once."""

    def __init__(self, *parts: str, flags: str = "") -> None:
        """Put the script together; without flags a server that is full refuses it before its first line."""
        source = "\n".join((DIRECTORY / f"{part}.lua").read_text(encoding="utf-8") for part in parts)
        self.source = f"#!lua {flags}\n{source}" if flags else f"#!lua\n{source}"
        self.digest = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()

    def __call__(self, client: Any, keys: Sequence[str], arguments: Sequence[Argument]) -> Reply:
        """Run the script; raise LockBackendError when the server cannot be asked, or refuses."""
        try:
            return self._run_or_repeat(client, keys, arguments)
        except (RedisError, OSError) as error:
            raise LockBackendError(f"the server of the locks does not answer, or refuses: {error}") from error

    def _run_or_repeat(self, client: Any, keys: Sequence[str], arguments: Sequence[Argument]) -> Reply:
        try:
            return self._run(client, keys, arguments)
        except (RedisConnectionError, RedisTimeoutError, ReadOnlyError):
            return self._run(client, keys, arguments)

    def _run(self, client: Any, keys: Sequence[str], arguments: Sequence[Argument]) -> Reply:
        try:
            return client.evalsha(self.digest, len(keys), *keys, *arguments)
        except NoScriptError:
            return client.eval(self.source, len(keys), *keys, *arguments)


ACQUIRE = Script("clock", "queue", "acquire")
RELEASE = Script("clock", "queue", "release", flags="flags=allow-oom")
RENEW = Script("clock", "renew", flags="flags=allow-oom")
