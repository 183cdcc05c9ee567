"""Files of the newest revision stay with the next one; their bytes are those that the lock has seen."""

from collections.abc import Collection
from uuid import UUID

from schemas.content import Attachment, ItemContent
from schemas.model import MAX_ATTACHMENTS
from services.console.attachments import store
from shared.attaching import Prepared
from shared.attachments import variant_of
from shared.db import Tx
from shared.errors import Refused


async def kept_files(tx: Tx, item_id: UUID, hashes: Collection[str]) -> Prepared:
    """Those of the newest revision that are named, with the smaller editions of their pictures."""
    raw = await store.newest_content(tx, item_id)
    every = ItemContent.from_bytes(raw).attachments if raw else ()
    stems = {_stem(each.name) for each in every if each.hash in hashes}
    wanted = [each for each in every if each.hash in hashes or _edition_of(each, stems)]
    data = {each.hash: await store.read(tx, item_id, each.hash) for each in wanted}
    return Prepared(tuple(each for each in wanted if data[each.hash]), {key: raw for key, raw in data.items() if raw})


def join(kept: Prepared, fresh: Prepared) -> Prepared:
    """A fresh file takes the place of a kept one of its name, with that one's smaller editions. Refused for too many."""
    names = {each.name.casefold() for each in fresh.attachments}
    stems = {_stem(each.name) for each in fresh.attachments}
    stay = [each for each in kept.attachments if each.name.casefold() not in names and not _edition_of(each, stems)]
    if len(stay) + len(fresh.attachments) > MAX_ATTACHMENTS:
        raise Refused(
            f"An item has at most {MAX_ATTACHMENTS} attachments, smaller editions of pictures among them; leave some out.",
            code="attachments",
        )
    hashes = {each.hash for each in stay}
    return Prepared(
        (*stay, *fresh.attachments), {key: raw for key, raw in kept.data.items() if key in hashes} | dict(fresh.data)
    )


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _edition_of(attachment: Attachment, stems: Collection[str]) -> bool:
    found = variant_of(attachment.name)
    return found is not None and found[0] in stems
