"""What the site hears: all of it comes through the lock, and is believed for its signatures only."""

from schemas.bridge.v1 import (
    AttachmentPublished,
    HeadSealed,
    ItemPublished,
    ItemRetracted,
    KeyRecorded,
    LinkRecorded,
    ModeEntered,
    PersonRecorded,
    SessionClosed,
)
from services.site.attachments.usecases.keep_attachment import keep_attachment
from services.site.publication.books import Books
from services.site.publication.chain import Link
from services.site.publication.usecases.apply_entry import apply_entry
from services.site.publication.usecases.see_head import see_head
from shared.bus import Received, on
from shared.db import Tx
from shared.identity import close_session, record_standing


class SiteIntake:
    def __init__(self, books: Books) -> None:
        self._books = books

    @on("item.published")
    async def on_item_published(self, tx: Tx, event: Received[ItemPublished]) -> None:
        data = event.data
        await apply_entry(tx, self._books, Link(data.gate, data.decision), data.content, data.item_id)

    @on("attachment.published")
    async def on_attachment_published(self, tx: Tx, event: Received[AttachmentPublished]) -> None:
        await keep_attachment(tx, self._books, event.data)

    @on("item.retracted")
    async def on_item_retracted(self, tx: Tx, event: Received[ItemRetracted]) -> None:
        data = event.data
        await apply_entry(tx, self._books, Link(data.gate, data.withdrawal), item_id=data.item_id)

    @on("mode.entered")
    async def on_mode_entered(self, tx: Tx, event: Received[ModeEntered]) -> None:
        await apply_entry(tx, self._books, Link(event.data.gate, event.data.setting))

    @on("key.recorded")
    async def on_key_recorded(self, tx: Tx, event: Received[KeyRecorded]) -> None:
        await apply_entry(tx, self._books, Link(event.data.gate, event.data.change))

    @on("link.recorded")
    async def on_link_recorded(self, tx: Tx, event: Received[LinkRecorded]) -> None:
        await apply_entry(tx, self._books, Link(event.data.gate, event.data.change), item_id=event.data.item_id)

    @on("head.sealed")
    async def on_head_sealed(self, tx: Tx, event: Received[HeadSealed]) -> None:
        await see_head(tx, self._books, event.data.head)

    @on("person.recorded")
    async def on_person_recorded(self, tx: Tx, event: Received[PersonRecorded]) -> None:
        await record_standing(tx, self._books.keys, "site", event.data.standing)

    @on("session.closed")
    async def on_session_closed(self, tx: Tx, event: Received[SessionClosed]) -> None:
        await close_session(tx, self._books.keys, "site", event.data.ending)
