"""The book of this process: loaded and verified at start, and in step with what this and the other instances write."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from asyncpg import Record
from pydantic import ValidationError

from schemas.agency import ActionDecision
from schemas.outward import Card, CardDecision, ConnectorSetting, SecretChange
from schemas.statements import KeyChange, Opening, Signed
from schemas.text import BadJson, canonical, parse_json, sha256
from services.connectors.book import store
from services.connectors.book.domain import Book
from shared.db import Database, Tx
from shared.db.notices import Notices
from shared.decision_keys import DecisionKeys
from shared.errors import BadSignature, SchleuseError, Transient
from shared.signing import PublicKeys
from shared.tasks import cancel, spawn

TOPIC = "book"
AGAIN = 0.5
LOOK = 0.5
"""Seconds. A notice can be lost with the instance that was about to send it, and so can word of a commit; what people took back ends within one all the same."""
Listener = Callable[[], None]


class Keeper:
    """A part. `book` is read without waiting; it is only ever what is durable."""

    def __init__(self, db: Database, keys: PublicKeys, notices: Notices, restored_at: datetime | None = None) -> None:
        self._db = db
        self.keys = DecisionKeys(keys)
        self.book = Book(restored_at=restored_at)
        self._notices = notices
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: asyncio.Task[None] | None = None
        self.listeners: list[Listener] = []
        notices.on(TOPIC, lambda _: self._later())

    async def start(self) -> None:
        """BadSignature when any row does not verify: the book is not believed in part (fail closed)."""
        await self.catch_up()
        self._looking = spawn(self._look(), "book looks")

    async def stop(self) -> None:
        await cancel(self._looking)
        for task in tuple(self._tasks):
            await cancel(task)

    async def catch_up(self) -> None:
        """Take in what was written since, then tell the listeners."""
        async with self._lock, self._db.reading() as tx:
            await _read(tx, self.book, self.keys)
        for each in self.listeners:
            each()

    async def locked(self, tx: Tx) -> tuple[Book, DecisionKeys]:
        """For whoever adds to the book: nobody else does until `tx` ends. A copy, complete with what `tx` itself has written; check against it."""
        await store.lock_book(tx)
        book, keys = self.book.copy(), self.keys.copy()
        await _read(tx, book, keys)
        return book, keys

    def written(self, tx: Tx) -> None:
        """Called by whoever added something in `tx`: when it is durable, this and the other instances take it in."""
        tx.after_commit(self._later)
        tx.after_commit(lambda: self._notices.tell(TOPIC))

    def _later(self) -> None:
        task = spawn(self._persist(), "book")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            with suppress(Transient):  # the database is away, and looked at again
                if await self._is_behind():
                    await self.catch_up()

    async def _is_behind(self) -> bool:
        async with self._db.reading() as tx:
            newest, cards = await store.extent(tx)
        return newest > self.book.position or cards > len(self.book.cards)

    async def _persist(self) -> None:
        while True:
            try:
                return await self.catch_up()
            except Transient:
                await asyncio.sleep(AGAIN)  # the database is away: nothing is decided meanwhile either


async def _read(tx: Tx, book: Book, keys: DecisionKeys) -> None:
    for row in await store.cards_but(tx, list(book.cards)):
        book.enter_card(_card(row["card"], row["card_hash"]))
    for row in await store.statements_after(tx, book.position):
        signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
        _enter(book, keys, row["purpose"], signed, _opening(row))
        book.position = row["position"]


def _enter(book: Book, keys: DecisionKeys, purpose: str, signed: Signed, opening: Opening) -> None:
    """Verified again, by the keys that counted when it came; then checked like one that just arrives."""
    try:
        match purpose:
            case SecretChange.PURPOSE:
                change = keys.verify_by(signed, opening, SecretChange)
                book.check_secret(change)
                book.enter_secret(change, signed.hash)
            case ConnectorSetting.PURPOSE:
                setting = keys.verify_by(signed, opening, ConnectorSetting)
                book.check_setting(setting)
                book.enter_setting(setting, signed.hash)
            case CardDecision.PURPOSE:
                decision = keys.verify_by(signed, opening, CardDecision)
                book.check_decision(decision, decision.decided_at)
                book.enter_decision(decision, opening.person_name, signed.hash)
            case ActionDecision.PURPOSE:
                action = keys.verify_by(signed, opening, ActionDecision)
                book.check_action(action)
                book.enter_action(action)
            case KeyChange.PURPOSE:
                keys.enter(keys.verify(signed, KeyChange))
            case _:
                raise BadSignature(f"a statement for {purpose!r} has no place in the book")
    except SchleuseError as error:
        raise BadSignature(
            f"statement {signed.hash[:16]} in core.statements does not hold: {error.message}. Nothing that people decided is "
            "believed until this is cleared up; a backup from before shows what stood there.",
            code="book",
        ) from None


def _opening(row: Record) -> Opening:
    return Opening(**{name: row[name] for name in Opening.model_fields})


def _card(raw: bytes, expected: str) -> Card:
    try:
        found = Card.model_validate(parse_json(raw))
    except (BadJson, ValidationError) as error:
        raise BadSignature(f"a row of core.cards cannot be read: {error}", code="book") from None
    if not sha256(raw) == expected == found.hash or canonical(found.model_dump(mode="json")) != raw:
        raise BadSignature(f"card {found.card_id} in core.cards is not what its hash says", code="book")
    return found
