"""Where a call waits for what nobody has allowed yet: one card for a person, and its outcome (rule 28)."""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from schemas.outward import Asker, Owner, SecretPlace
from services.connectors.book.domain import Decided
from services.connectors.book.keeper import Keeper
from services.connectors.cards.domain import Use
from services.connectors.cards.grants import Missing, missing
from services.connectors.cards.usecases.request_card import known_card, request_card
from shared.clock import now
from shared.db import Database
from shared.errors import Refused

_WHY = {
    "pending": "waits for a person: {card}. Ask again when an owner or admin has allowed it",
    "refused": "was refused by a person; it can be asked again once that is taken back: {card}",
    "revoked": "was allowed and taken back: {card}. Ask again for a new decision",
    "expired": "was not decided in seven days: {card}. Ask again for a new decision",
}


class CardDesk:
    """`console_url`: where people decide."""

    def __init__(self, db: Database, keeper: Keeper, console_url: str) -> None:
        self._db, self._keeper, self._console_url = db, keeper, console_url
        self._news = asyncio.Event()
        keeper.listeners.append(self._wake)

    async def require(
        self,
        *,
        asker: Asker,
        owner: Owner | None,
        connector: str,
        kind: str,
        operation: str,
        hosts: Iterable[str],
        places: Iterable[SecretPlace],
        quoted: str,
        wait_s: float,
        call_id: UUID,
    ) -> None:
        """Returns when all of it is granted; waits so long for a person.

        Refused (code card_pending, card_refused, card_expired) with the card's address in the console; TooMany when too many wait.
        """
        use = Use(asker, connector, kind, operation, tuple(hosts), tuple(places), owner, quoted)
        until = asyncio.get_running_loop().time() + wait_s
        while lacking := self._lacks(use):
            found = known_card(
                self._keeper.book, use, lacking, now()
            )  # asked again and again, it costs the others nothing
            if found is None:
                async with self._db.transaction() as tx:
                    found = await request_card(tx, self._keeper, use, call_id)
            if found is None:
                await self._keeper.catch_up()  # it was granted a moment ago
                continue
            state = await self._outcome(found, until)
            if state != "allowed":
                raise self._refusal(use, found.card.card_id, state)

    def _lacks(self, use: Use) -> Missing | None:
        book = self._keeper.book
        return missing(book, use.asker, use.connector, use.operation, use.hosts, use.places, now())

    async def _outcome(self, found: Decided, until: float) -> str:
        """The card's state once somebody decided, or when the time is over."""
        while True:
            news, at = self._news, now()
            decided = self._keeper.book.cards.get(found.card.card_id, found)
            state = decided.state(at)
            left = min(until - asyncio.get_running_loop().time(), (found.card.expires_at - at).total_seconds())
            if state != "pending" or left <= 0:
                return state
            try:
                async with asyncio.timeout(left):
                    await news.wait()
            except TimeoutError:
                continue

    def _refusal(self, use: Use, card_id: UUID, state: str) -> Refused:
        card = f"{self._console_url}/cards/{card_id}"
        code = "card_refused" if state == "revoked" else f"card_{state}"
        return Refused(f"{use.operation} of {use.connector} for {use.asker} {_WHY[state].format(card=card)}", code=code)

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
