"""Attachments as a reviewer sees them: all that can be downloaded is listed, and the preview shows the very pictures (S13)."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from schemas.content import Attachment
from services.console.attachments import store
from shared.attachments import human_size, is_picture, variant_of
from shared.db import Tx

_IMG = re.compile(r'<img src="/a/([0-9a-f]{64})/[^"]*"(?: srcset="([^"]*)" sizes="[^"]*")?')
_EDITION = re.compile(r"/a/([0-9a-f]{64})/\S+ ([0-9]+)w")
ENOUGH = 640
"""Pixels of width from which an edition of a picture does for the preview."""


@dataclass(frozen=True)
class Listed:
    """`is_here`: its bytes have come from the lock. `smaller`: it is a smaller edition of a picture."""

    file: Attachment
    size: str
    is_here: bool
    is_picture: bool
    smaller: bool


async def listed(tx: Tx, item_id: UUID, attachments: Sequence[Attachment]) -> tuple[Listed, ...]:
    """In the content's order, every one of them."""
    held = await store.held(tx, item_id, [each.hash for each in attachments]) if attachments else frozenset()
    return tuple(
        Listed(each, human_size(each.size), each.hash in held, is_picture(each), variant_of(each.name) is not None)
        for each in attachments
    )


async def embedded(tx: Tx, item_id: UUID, html: str, attachments: Sequence[Attachment]) -> str:
    """The site's HTML with its pictures in it: a sandboxed frame has no session to fetch them with."""
    kinds = {each.hash: each.media_type for each in attachments}
    chosen = {found[0]: _shown(found) for found in _IMG.finditer(html)}
    files = {each: await store.read(tx, item_id, each) for each in dict.fromkeys(chosen.values())}
    return _IMG.sub(lambda found: f'<img src="{_data(chosen[found[0]], kinds, files)}"', html)


def _shown(found: re.Match[str]) -> str:
    """The hash of the edition that is wide enough, else of the picture itself."""
    for hash_, width in _EDITION.findall(found[2] or ""):
        if int(width) >= ENOUGH:
            return str(hash_)
    return found[1]


def _data(hash_: str, kinds: Mapping[str, str], files: Mapping[str, bytes | None]) -> str:
    raw = files.get(hash_)
    return f"data:{kinds[hash_]};base64,{b64encode(raw).decode()}" if raw and hash_ in kinds else ""
