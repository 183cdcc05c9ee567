"""One owner's lessons by their words: BM25 (bm25s), word statistics of this owner alone (LE-05)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.agent.lessons.domain import Version

PAIR = 2


@dataclass(frozen=True)
class Hit:
    lesson_id: int
    score: float


class Index:
    """Made once and never changed: `version` says of which state of the owner's lessons."""

    def __init__(self, version: Version | None, lessons: Mapping[int, Sequence[str]]) -> None:
        """`lessons`: id -> words. Takes a third of a second for 10,000; give it to a thread."""
        self.version, self.size = version, sum(len(each) for each in lessons.values())
        self._ids = np.array(list(lessons), dtype=np.int64)
        self._vocabulary: dict[str, int] = {}
        rows = [[self._vocabulary.setdefault(each, len(self._vocabulary)) for each in found] for found in lessons.values()]  # fmt: skip
        self._scores: Any = _scores(rows, self._vocabulary) if self._vocabulary else None

    def search(self, asked: Iterable[str], limit: int) -> list[Hit]:
        """The best first, of equal ones the newest; none without one of the words. No words or no lessons: nothing (LE-01)."""
        known = [each for word in asked for each in self._known(word)]
        if not known:
            return []
        scores = self._scores.get_scores(known)
        found = np.flatnonzero(scores > 0)
        best = found[np.lexsort((-self._ids[found], -scores[found]))[:limit]]
        return [Hit(int(self._ids[at]), float(scores[at])) for at in best]

    def _known(self, word: str) -> list[str]:
        """A single character of a language that is split into pairs stands for all pairs that have it."""
        if word in self._vocabulary:
            return [word]
        if word.startswith("c:") and len(word) < len("c:") + PAIR:
            return [each for each in self._vocabulary if each.startswith("c:") and word[2:] in each[2:]]
        return []


def _scores(rows: list[list[int]], vocabulary: dict[str, int]) -> Any:
    """Imported here: numpy and bm25s take a quarter of a second, which only who has lessons needs."""
    import bm25s  # noqa: PLC0415

    made = bm25s.BM25(method="lucene")
    made.index((rows, vocabulary), show_progress=False)
    return made
