"""The crowd: buyers who press the button at the same moment, over real connections."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Sequence

import aiohttp

from orders.stampede.journal import Answer, Journal
from orders.stampede.plan import Plan, Wish

REQUEST_SECONDS = 30.0
#: Sendings of one request that ends in no final answer.
ATTEMPTS_MAX = 10
PAUSE_SECONDS = 0.2

Tell = Callable[[int], None]


class Crowd:
    """Sends the requests of a plan, at most `concurrency` at a time, and writes every answer into the journal."""

    def __init__(
        self, *, plan: Plan, url: str, token_of: Callable[[str], str], journal: Journal, tell: Tell = lambda _: None
    ) -> None:
        """Aim at a site; `token_of` gives a buyer's token, `tell` is told of each answer."""
        self._url = f"{url}/api/v1/orders/"
        self._concurrency = plan.concurrency
        self._repeats = plan.repeats
        self._token_of = token_of
        self._journal = journal
        self._tell = tell

    def rush(self, wishes: Sequence[Wish]) -> float:
        """Send every request as often as planned, half of the buyers all at once; give the seconds it took."""
        shuffled = random.Random(len(wishes)).sample(wishes, len(wishes))  # noqa: S311 - the same crowd in every run
        return asyncio.run(self._all(shuffled, self._insist))

    def ask_again(self, wishes: Sequence[Wish]) -> None:
        """Send these requests once more."""
        asyncio.run(self._all(wishes, self._send_until_final))

    async def _all(self, wishes: Sequence[Wish], send: Callable[..., object]) -> float:
        connector = aiohttp.TCPConnector(limit=self._concurrency)
        timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as self._session:
            self._places = asyncio.Semaphore(self._concurrency)
            started_at = time.monotonic()
            await asyncio.gather(*(send(wish, number) for number, wish in enumerate(wishes)))  # type: ignore[call-overload]
            return time.monotonic() - started_at

    async def _insist(self, wish: Wish, number: int) -> None:
        """Send one request all times at once, or one after the other."""
        if number % 2:
            await asyncio.gather(*(self._send_until_final(wish) for _ in range(self._repeats)))
            return
        for _ in range(self._repeats):
            await self._send_until_final(wish)

    async def _send_until_final(self, wish: Wish, _number: int = 0) -> None:
        """Send one request; again while nothing was decided, as a client that knows the contract does."""
        for _ in range(ATTEMPTS_MAX):
            async with self._places:
                answer = await self._send(wish)
            self._journal.answers.append(answer)
            if answer.is_final:
                break
            await asyncio.sleep(PAUSE_SECONDS)
        self._tell(1)

    async def _send(self, wish: Wish) -> Answer:
        body = {"request_id": wish.request_id, "lines": [{"product": wish.product, "quantity": 1}]}
        headers = {"Authorization": f"Bearer {self._token_of(wish.buyer)}"}
        started_at = time.monotonic()
        try:
            async with self._session.post(self._url, json=body, headers=headers) as response:
                document = json.loads(await response.read())
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return Answer(wish, None, time.monotonic() - started_at)
        return Answer(
            wish,
            response.status,
            time.monotonic() - started_at,
            code=str(document.get("code", "")),
            order=str(document.get("id", "")),
            is_replayed=response.headers.get("Idempotent-Replayed") == "true",
        )
