"""What the operator may ask of the inspection."""

from typing import Any

from schemas.content import ItemContent
from services.bridge.inspection.inspector import Inspector
from services.bridge.inspection.known import Known, Shelf
from shared.operator import Verb


class InspectionDesk:
    """Verbs: inspection.check."""

    def __init__(self, inspector: Inspector, shelf: Shelf) -> None:
        self._inspector, self._shelf = inspector, shelf

    @property
    def verbs(self) -> dict[str, Verb]:
        return {"inspection.check": self.check}

    async def check(self, _: dict[str, Any]) -> dict[str, Any]:
        """{"fingerprints": how many count now or None, "why": why they do not, "canary": whether a text with the value that every set
        holds was stopped for it, "clean": whether one without it was not}."""
        found = await self._shelf.look()
        if not isinstance(found, Known):
            return {"fingerprints": None, "why": found, "canary": False, "clean": False}
        canary = await self._inspector.recheck(_text(self._shelf.key().canary))
        clean = await self._inspector.recheck(_text("nothing but words"))
        return {"fingerprints": len(found.entries), "why": "", "canary": bool(canary), "clean": not clean}


def _text(body: str) -> ItemContent:
    return ItemContent(title="Self-check", body=body)
