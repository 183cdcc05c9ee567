"""Lessons at work: a query in many of one owner. Runs as the agent's OS user, on its database, with the code that it runs.

`python -m infra.bench.agent_lessons_work --state DIR --lessons N` prints {"lessons_query_ms", …}. What it adds belongs to an owner that nobody is,
and is deleted again.
"""

import argparse
import json
import random
import statistics
import time
from pathlib import Path
from typing import Any

import uvloop

from schemas.outward import Owner
from services.agent.lessons import store
from services.agent.lessons.domain import Learnt, Origin
from services.agent.lessons.shelf import Lessons
from shared.db import Database
from shared.ids import fresh_id
from shared.settings import Settings

WORDS, VOCABULARY, BATCH, QUERIES = 40, 12_000, 250, 100


class Speech:
    """Words as texts have them: few are frequent, most are rare."""

    def __init__(self) -> None:
        self._random = random.Random(7)  # noqa: S311 - the same lessons each time
        syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
        self._words = ["".join(self._random.choices(syllables, k=3)) for _ in range(VOCABULARY)]

    def word(self) -> str:
        return self._words[min(int(self._random.expovariate(1 / 900)), VOCABULARY - 1)]

    def text(self, words: int) -> str:
        return " ".join(self.word() for _ in range(words))


async def work(state: Path, lessons: int) -> dict[str, Any]:
    db, speech = Database(Settings.load("agent", state), pool_size=2), Speech()
    await db.start()
    owner, shelf = Owner(kind="user", id=str(fresh_id())), Lessons(db)
    try:
        for start in range(0, lessons, BATCH):
            async with db.owned(owner) as tx:
                for _ in range(start, min(start + BATCH, lessons)):
                    learnt = Learnt(speech.text(WORDS // 2), f"ever {speech.text(WORDS // 2 - 1)}")
                    await store.add(tx, owner, learnt, Origin(), flagged=False)
        return await measured(shelf, owner, speech) | {"lessons": lessons}
    finally:
        async with db.owned(owner) as tx:
            for table in ("lessons", "lesson_books"):
                await tx.raw.execute(f"DELETE FROM core.{table} WHERE owner_kind = $1 AND owner_id = $2", owner.kind, owner.id)  # fmt: skip # noqa: S608
        await db.stop()


async def measured(shelf: Lessons, owner: Owner, speech: Speech) -> dict[str, Any]:
    """The index is made by the first query."""
    first = await timed(shelf, owner, "ever")
    queries = [await timed(shelf, owner, speech.text(3)) for _ in range(QUERIES)]
    common = [await timed(shelf, owner, f"ever {speech.word()}") for _ in range(QUERIES)]
    return {
        "lessons_query_ms": round(statistics.median(queries), 2),
        "lessons_common_query_ms": round(statistics.median(common), 2),
        "lessons_index_ms": round(first, 1),
    }


async def timed(shelf: Lessons, owner: Owner, words: str) -> float:
    """Milliseconds of one query, with the lessons that it found."""
    began = time.perf_counter()
    await shelf.search(owner, words, 5)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--lessons", type=int, default=10_000)
    given = parser.parse_args()
    print(json.dumps(uvloop.run(work(given.state, given.lessons))))


if __name__ == "__main__":
    main()
