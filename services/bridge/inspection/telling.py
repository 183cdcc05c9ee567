"""What the inspecting child is told of internal columns: only what it does not know yet."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from services.bridge.inspection.columns import Columns, Told


class Telling:
    """How far one child knows the columns. Make a new one for a new child."""

    def __init__(self) -> None:
        self._seeking = b""
        self._reached: dict[UUID, int] = {}

    def frames(self, columns: Columns) -> Iterator[dict[str, Any]]:
        """One after another; what was yielded counts as told when the next is asked for."""
        if self._seeking != columns.seeking:
            yield {"columns": {"seeking": columns.seeking.hex(), "canary": columns.canary}}
            self._seeking, self._reached = columns.seeking, {}
        for gone in self._reached.keys() - columns.events.keys():
            yield _frame(gone, "", Told(0, True, True, b"", b""))
            del self._reached[gone]
        for column, events in columns.events.items():
            for told in self._missing(column, events):
                yield _frame(column, columns.labels[column], told)
                self._reached[column] = told.sequence

    def _missing(self, column: UUID, events: tuple[Told, ...]) -> tuple[Told, ...]:
        """From the newest whole set on, unless the child knows a later event already."""
        reached = self._reached.get(column, 0)
        wholes = [at for at, each in enumerate(events) if each.whole and each.sequence > reached]
        return events[wholes[-1] :] if wholes else tuple(each for each in events if each.sequence > reached)


def _frame(column: UUID, label: str, told: Told) -> dict[str, Any]:
    said = {"column": column.hex, "label": label, "whole": told.whole, "dropped": told.dropped}
    return {"columns": {**said, "added": b64encode(told.added).decode(), "removed": b64encode(told.removed).decode()}}
