"""Who holds and who waits, read from the keys; for operators, not for decisions."""

import json
import time
from collections.abc import Iterator
from typing import Any

from redis.exceptions import RedisError

from locking.backends.keys import Keys
from locking.claims import Holding, Kind
from locking.exceptions import LockBackendError

SCAN_COUNT = 500


def holdings(client: Any, keys: Keys) -> Iterator[Holding]:
    """Yield who holds and who waits, of all locks under these keys."""
    try:
        for key in client.scan_iter(match=keys.pattern, count=SCAN_COUNT):
            kind, name = keys.parse(key.decode())
            holders, details, *_ = keys.of(kind, name)
            ends = {member.decode(): score / 1e6 for member, score in client.zrange(holders, 0, -1, withscores=True)}
            for field, record in client.hgetall(details).items():
                holding = _holding(kind, name, field.decode(), json.loads(record), ends)
                if holding is not None:
                    yield holding
    except (RedisError, OSError) as error:
        raise LockBackendError(f"the server of the locks does not answer: {error}") from error


def _holding(kind: Kind, name: str, field: str, record: list[str], ends: dict[str, float]) -> Holding | None:
    """Read one field of `details`; None if its lease has ended."""
    now = time.time()  # The server's is the one that counts; this one only makes an age of it.
    flag, token = field[0], field[1:]
    if flag == "w":
        until, _, waits_as, _, _, since, owner = record
        fence, exclusive, ends_at = None, waits_as == "x", float(until) / 1e6
    elif field in ends:
        minted, since, owner = record
        fence, exclusive, ends_at = int(minted or 0) or None, flag == "x", ends[field]
    else:
        return None
    if ends_at <= now:
        return None
    age_seconds = max(0.0, now - float(since) / 1e6)
    return Holding(kind, name, token, owner, exclusive, fence, age_seconds, ends_at - now)
