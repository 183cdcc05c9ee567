"""The documentation: its pages, and the passages of them that answer a question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from services.agent.lessons.index import Index
from services.agent.lessons.splitting import asked, words
from shared.errors import NotFound

TEXTS = Path(__file__).parent / "texts"
HEADING = 3
"""How often the words of a heading count."""
_HEADING = re.compile(r"^#{1,2} (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Passage:
    """A heading of a page, with the text below it. `page` as it is read: `docs/en/files.md`."""

    page: str
    heading: str
    text: str


class Manual:
    """`pages`: text by path below `docs/`."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self.pages = dict(sorted(pages.items()))

    def read(self, path: str) -> str:
        """NotFound."""
        found = self.pages.get(path)
        if found is None:
            raise NotFound(f"There is no such page; docs/ holds {', '.join(self.pages)}.", code="file")
        return found

    def search(self, question: str, lang: str = "", most: int = 3) -> Sequence[Passage]:
        """The passages that say most about these words, in this language when it has them; none when no word of the question is in any."""
        hits = self._index.search(asked(question), len(self._passages))
        found = [self._passages[each.lesson_id] for each in hits]
        own = [each for each in found if each.page.startswith(f"docs/{lang}/")]
        return (own or found)[:most]

    @cached_property
    def _passages(self) -> list[Passage]:
        return [each for path, text in self.pages.items() for each in _passages(f"docs/{path}", text)]

    @cached_property
    def _index(self) -> Index:
        said = {at: words(f"{HEADING * (each.heading + ' ')}{each.text}") for at, each in enumerate(self._passages)}
        return Index(None, said)


@cache
def manual() -> Manual:
    """What is shipped."""
    return Manual({str(each.relative_to(TEXTS)): each.read_text() for each in TEXTS.rglob("*.md")})


def _passages(page: str, text: str) -> list[Passage]:
    marks = [*_HEADING.finditer(text)]
    ends = [*(each.start() for each in marks[1:]), len(text)]
    return [
        Passage(page, mark[1].strip(), text[mark.end() : end].strip())
        for mark, end in zip(marks, ends, strict=True)
        if text[mark.end() : end].strip()
    ]
