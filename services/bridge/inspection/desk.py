"""What the operator may ask of the inspection."""

from base64 import b64decode
from typing import Any

from schemas.content import Attachment, ItemContent
from schemas.text import sha256
from services.bridge.inspection.checks.internal import RULE
from services.bridge.inspection.columns import Columns, ColumnShelf
from services.bridge.inspection.inspector import Inspector
from services.bridge.inspection.known import Known, Shelf
from shared.attachments import media_type
from shared.operator import Verb
from shared.pictures import NoPicture, Size, check_picture


class InspectionDesk:
    """Verbs: inspection.check, inspection.columns, inspection.file."""

    def __init__(self, inspector: Inspector, shelf: Shelf, columns: ColumnShelf) -> None:
        self._inspector, self._shelf, self._columns = inspector, shelf, columns

    @property
    def verbs(self) -> dict[str, Verb]:
        return {"inspection.check": self.check, "inspection.columns": self.columns, "inspection.file": self.file}

    async def check(self, _: dict[str, Any]) -> dict[str, Any]:
        """{"fingerprints": how many count now or None, "why": why they do not, "canary": whether a text with the value that every set
        holds was stopped for it, "clean": whether one without it was not}."""
        found = await self._shelf.look()
        if not isinstance(found, Known):
            return {"fingerprints": None, "why": found, "canary": False, "clean": False}
        canary = await self._inspector.recheck(_text(self._shelf.key().canary))
        clean = await self._inspector.recheck(_text("nothing but words"))
        return {"fingerprints": len(found.entries), "why": "", "canary": bool(canary), "clean": not clean}

    async def file(self, args: dict[str, Any]) -> dict[str, Any]:
        """args {"name", "data": base64} → {"findings": [{"level", "rule", "message"}]}: what would be found in this attachment. Nothing is kept."""
        raw = b64decode(str(args["data"]), validate=True)
        name = str(args["name"])
        kind = media_type(name) or "x/unknown"
        size = _size(kind, raw)
        about = Attachment(
            name=name, media_type=kind, size=len(raw), hash=sha256(raw), width=size.width, height=size.height
        )
        content = _text("nothing but words").model_copy(update={"attachments": (about,)})
        found = await self._inspector.inspect(content, "page", "en", None, [raw])
        return {"findings": [each.model_dump(include={"level", "rule", "message"}) for each in found.findings]}

    async def columns(self, _: dict[str, Any]) -> dict[str, Any]:
        """{"columns": how many internal columns are known or None, "why": why they are not, "canary": whether a text with the value that
        stands for all of them would be marked, "clean": whether one without it would not}."""
        found = await self._columns.afresh()
        if not isinstance(found, Columns):
            return {"columns": None, "why": found, "canary": False, "clean": False}
        canary = await self._inspector.inspect(_text(f"before {found.canary.upper()} after"), "page", "en", None)
        clean = await self._inspector.inspect(_text("nothing but words"), "page", "en", None)
        marked = [any(each.rule == RULE for each in said.findings) for said in (canary, clean)]
        return {"columns": len(found.events), "why": "", "canary": marked[0], "clean": not marked[1]}


def _size(kind: str, raw: bytes) -> Size:
    """As a content would say it; any, where the bytes are no picture."""
    try:
        return check_picture(kind, raw)
    except NoPicture:
        return Size(1, 1)


def _text(body: str) -> ItemContent:
    return ItemContent(title="Self-check", body=body)
