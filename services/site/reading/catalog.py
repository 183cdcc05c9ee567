"""What one readership can see, sorted for lists: by section, by language, by date. Follows its view."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from services.site.publication.domain import Published
from services.site.publication.shelf import View
from services.site.reading.words import KINDS
from shared.clock import now

BY_DATE = ("announcement", "report")
"""Kinds whose lists start with the newest; the others go by title."""
RELATED, ANNOUNCED, NEWEST = 4, 3, 50


@dataclass(frozen=True)
class Brief:
    """What a list says about an item; known once its text was rendered."""

    summary: str
    minutes: int


class Catalog:
    """Lists are sorted when they are asked for and kept until something is published or withdrawn. `briefs` is filled by the indexer."""

    def __init__(self, view: View, briefs: dict[UUID, Brief]) -> None:
        self._view, self.briefs = view, briefs
        self._places: dict[tuple[str, str], dict[str, Published]] = {}
        self._folders: dict[tuple[str, str, str], dict[UUID, Published]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._sorted: dict[tuple[str | None, str | None], list[Published]] = {}
        self.most_read: list[UUID] = []
        self.read_together: dict[UUID, tuple[UUID, ...]] = {}
        view.listeners.append(self._moved)

    def _moved(self, before: Published | None, after: Published | None) -> None:
        self._sorted.clear()
        if before is not None:
            self.briefs.pop(before.item_id, None)
        for item, step in ((before, -1), (after, 1)):
            if item is None:
                continue
            place = self._places.setdefault((item.kind, item.path), {})
            if step > 0:
                place[item.lang] = item
            else:
                place.pop(item.lang, None)
            folder = self._folders.setdefault(_folder(item), {})
            folder.pop(item.item_id, None)
            if step > 0 and "/" in item.path:
                folder[item.item_id] = item
            section = (item.kind, item.lang)
            self._counts[section] = self._counts.get(section, 0) + step

    def count(self, kind: str | None = None, lang: str | None = None) -> int:
        return sum(n for (of, in_), n in self._counts.items() if kind in (None, of) and lang in (None, in_))

    def kinds(self, lang: str | None = None) -> list[str]:
        """Kinds that have something to show."""
        return [kind for kind in KINDS if self.count(kind, lang)]

    def languages(self, kind: str | None = None) -> list[str]:
        return sorted({lang for (of, lang), n in self._counts.items() if n and kind in (None, of)})

    def newest(self, kind: str | None = None, lang: str | None = None) -> list[Published]:
        key = (f"new {kind}" if kind else None, lang)
        if key not in self._sorted:
            self._sorted[key] = sorted(self._of(kind, lang), key=lambda item: item.published_at, reverse=True)
        return self._sorted[key]

    def sections(self) -> frozenset[tuple[str, str]]:
        """(kind, language) of every list that is not empty."""
        return frozenset(section for section, n in self._counts.items() if n)

    def updated(self, lang: str | None = None) -> datetime:
        """When something was published last."""
        newest = self.newest(None, lang)
        return newest[0].published_at if newest else now()

    def section(self, kind: str, lang: str | None = None) -> list[Published]:
        if kind in BY_DATE:
            return self.newest(kind, lang)
        key = (kind, lang)
        if key not in self._sorted:
            self._sorted[key] = sorted(self._of(kind, lang), key=lambda item: (item.title.casefold(), item.lang))
        return self._sorted[key]

    def _of(self, kind: str | None, lang: str | None) -> Iterable[Published]:
        return (item for item in self._view if kind in (None, item.kind) and lang in (None, item.lang))

    def alternates(self, item: Published) -> list[Published]:
        """The same page in other languages."""
        place = self._places.get((item.kind, item.path), {})
        return sorted((each for each in place.values() if each.lang != item.lang), key=lambda each: each.lang)

    def related(self, item: Published) -> list[Published]:
        """What readers of this one read, too, then what stands in the same folder; in its language, at most four."""
        read = (self._view.item(each) for each in self.read_together.get(item.item_id, ()))
        found = {each.item_id: each for each in read if each is not None and each.lang == item.lang}
        for each in islice(self._folders.get(_folder(item), {}).values(), RELATED + 1):
            found.setdefault(each.item_id, each)
        found.pop(item.item_id, None)
        return list(found.values())[:RELATED]

    def announced(self, lang: str | None) -> list[Published]:
        """Announcements that have an end, the newest first, at most three; at their end they are gone by themselves."""
        found = (item for item in self.newest("announcement", lang)[:NEWEST] if item.expire_at is not None)
        return list(islice(found, ANNOUNCED))

    def popular(self, lang: str | None) -> list[Published]:
        found = [item for item_id in self.most_read if (item := self._view.item(item_id))]
        return [item for item in found if lang in (None, item.lang)][:5]


def _folder(item: Published) -> tuple[str, str, str]:
    return item.kind, item.lang, item.path.rpartition("/")[0]
