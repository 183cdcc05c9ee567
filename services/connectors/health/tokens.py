"""Access tokens of secrets that are no more are no more, either."""

import asyncio

from services.connectors.book.keeper import Keeper
from services.connectors.kinds.oauth2 import AccessTokens
from shared.clock import now
from shared.tasks import cancel, spawn

HOURLY = 3600.0


class TokenRemoval:
    """A part. At start, when the book changes, and hourly: a version ends by itself, too."""

    def __init__(self, keeper: Keeper, access: AccessTokens) -> None:
        self._keeper, self._access = keeper, access
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        keeper.listeners.append(self._woken.set)

    async def start(self) -> None:
        self._task = spawn(self._run(), "token removal")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            at = now()
            secrets = [each for each in self._keeper.book.secrets.values() if each.type == "oauth2"]
            labels = {f"{each.place} v{version.number}" for each in secrets for version in each.usable(at)}
            await self._access.forget_but(frozenset(labels))
            try:
                async with asyncio.timeout(HOURLY):
                    await self._woken.wait()
            except TimeoutError:
                continue
