"""Who a visitor is today: the key of the day, and the address that counts."""

import secrets
from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from services.site.signals import store
from services.site.signals.domain import pseudonym
from shared.clock import now
from shared.db import Database


class Visitors:
    """Pseudonyms of the present day. `trusted` proxies are the only ones whose X-Forwarded-For is believed."""

    def __init__(self, db: Database, trusted: Iterable[str]) -> None:
        self._db = db
        self._trusted = frozenset(trusted)
        self._keys: dict[date, bytes] = {}

    async def name(self, client: str, headers: Mapping[str, str]) -> str:
        """The pseudonym of whoever sent this request."""
        day = now().date()
        key = self._keys.get(day) or await self._open(day)
        return pseudonym(key, self._address(client, headers), headers.get("user-agent", ""))

    async def _open(self, day: date) -> bytes:
        async with self._db.transaction() as tx:
            key = await store.day_key(tx, day, secrets.token_bytes(32))
            await store.forget_days_before(tx, day - timedelta(days=1))
        self._keys = {day: key}
        return key

    def _address(self, client: str, headers: Mapping[str, str]) -> str:
        if client not in self._trusted:
            return client
        hops = [hop.strip() for hop in headers.get("x-forwarded-for", "").split(",") if hop.strip()]
        return next((hop for hop in reversed(hops) if hop not in self._trusted), client)
