"""The documentation as a tool, for everybody: how this product works."""

import asyncio
from typing import Literal

from pydantic import Field

from services.agent.manual.shelf import Manual
from services.agent.tools.domain import EVERYBODY, Arguments, Asked, Found, Tool


class SearchDocsArguments(Arguments):
    """`question`: what the user wants to know about this product. `lang`: the language that they write in."""

    question: str = Field(min_length=1, max_length=1000)
    lang: Literal["en", "de"] = "en"


class ManualTools:
    def __init__(self, manual: Manual) -> None:
        self._manual = manual

    async def search(self, asked: Asked, given: SearchDocsArguments) -> Found:
        found = await asyncio.to_thread(self._manual.search, given.question, given.lang)
        passages = [{"page": each.page, "heading": each.heading, "text": each.text} for each in found]
        return Found({"passages": passages, "pages": list(self._manual.pages)}, f"{len(passages)} passage{'' if len(passages) == 1 else 's'} of the documentation")  # fmt: skip


def make_tools(manual: Manual) -> tuple[Tool, ...]:
    mine = ManualTools(manual)
    return (
        Tool("search_docs", "Look up in this product's own documentation how something here works: files, reminders, mail, publishing, approvals, cost, data. Answer questions about the product from it.", SearchDocsArguments, mine.search, EVERYBODY),
    )  # fmt: skip
