"""Memory, progress and files as tools. All of it is the owner's own; what memory holds for good waits on a card where untrusted text was read (S11)."""

from typing import Any, Literal

from pydantic import Field

from services.agent.memory.domain import MEMORY, PROGRESS, PRUNE_ABOVE, READ_AT_START, matching, named
from services.agent.memory.files import Workspaces
from services.agent.tools.domain import PEOPLE, Arguments, Asked, Found, Tool
from services.agent.tools.orders import orders

MOST_LISTED = 200
LONGEST_SHOWN = 120
"""Characters of what is remembered, in the line for the page."""


class RememberArguments(Arguments):
    """What the user asked to be remembered, in their words."""

    text: str = Field(min_length=1)


class RecallArguments(Arguments):
    """`words`: only lines in which this stands; empty: the whole memory."""

    words: str = Field(default="", max_length=500)


class ForgetArguments(Arguments):
    """`words`: a whole line, or what stands in it. `several`: take all of them out when it stands in more than one."""

    words: str = Field(min_length=1, max_length=4096)
    several: bool = False


class NoArguments(Arguments):
    pass


class ReadFileArguments(Arguments):
    """`offset`: bytes from the start, to read on in a long file."""

    name: str = Field(min_length=1, max_length=1000)
    offset: int = Field(default=0, ge=0)


class WriteFileArguments(Arguments):
    """`name`: a path in the workspace. `how`: new (a taken name becomes `name (2).ext`), replace or append."""

    name: str = Field(min_length=1, max_length=1000)
    text: str
    how: Literal["new", "replace", "append"] = "new"


class MemoryTools:
    def __init__(self, workspaces: Workspaces) -> None:
        self._all = workspaces

    async def remember(self, asked: Asked, given: RememberArguments) -> Found:
        line, size = await self._all.remember(asked.me, given.text, asked.tainted)
        return Found({"line": line, "advice": _advice(size)}, line[2:LONGEST_SHOWN])

    async def recall(self, asked: Asked, given: RecallArguments) -> Found:
        text = await self._all.memory(asked.me)
        lines = [line for line in text.splitlines() if line.strip()]
        found = matching(lines, given.words) if given.words.strip() else lines
        value = {"lines": found[:MOST_LISTED], "of": len(lines), "advice": _advice(len(text.encode()))}
        return Found(value, f"{len(found)} line{'' if len(found) == 1 else 's'} of memory")

    async def forget(self, asked: Asked, given: ForgetArguments) -> Found:
        gone = await self._all.forget_lines(asked.me, given.words, several=given.several)
        return Found({"forgotten": gone}, f"{len(gone)} line{'' if len(gone) == 1 else 's'} taken out of memory")

    async def propose_pruning(self, asked: Asked, given: NoArguments) -> Found:
        found = await self._all.pruning(asked.me)
        if found is None:
            return Found({"needed": False, "lines": []}, "memory is short enough")
        value: dict[str, Any] = {"needed": True, "bytes": found.size, "lines": found.lines, "bytes_left": found.left}
        return Found(
            value | {"next": "Ask the user. Nothing goes unasked; `forget` takes out what they agree to."},
            "pruning proposed",
        )

    async def list_files(self, asked: Asked, given: NoArguments) -> Found:
        found = await self._all.list(asked.me)
        files = [
            {"name": each.path, "bytes": each.size, "from_outside": marked} for each, marked in found[:MOST_LISTED]
        ]
        # names are text, too: those that a conversation chose after it had read untrusted text
        names = [named(each.path) for each, marked in found[:MOST_LISTED] if marked]
        sources = tuple(dict.fromkeys(f"name of the file {name}" for name in names))
        return Found({"files": files, "of": len(found)}, f"{len(found)} files", sources)

    async def read_file(self, asked: Asked, given: ReadFileArguments) -> Found:
        text, size, sources = await self._all.read(asked.me, given.name, given.offset)
        read_to = given.offset + len(text.encode())
        value = {"name": given.name, "text": text, "bytes": size, "next_offset": read_to if read_to < size else None}
        return Found(value, f"read {given.name}", tuple(f"file {named(given.name)}: {source}" for source in sources))

    async def write_file(self, asked: Asked, given: WriteFileArguments) -> Found:
        path = await self._all.write(asked.me, given.name, given.text, given.how, asked.tainted)
        return Found({"name": path, "from_outside": bool(asked.tainted)}, f"wrote {path}")


def _advice(size: int) -> str:
    """Said above 12 KiB (rule 21)."""
    if size <= PRUNE_ABOVE:
        return ""
    left_out = f", and {size - READ_AT_START} bytes of it are not read any more" if size > READ_AT_START else ""
    return (
        f"The memory has {size / 1024:.1f} KiB. Every chat begins with its first {READ_AT_START // 1024} KiB{left_out}."
        " Shall I propose which lines could go? Nothing is taken out unasked."
    )


def make_tools(workspaces: Workspaces) -> tuple[Tool, ...]:
    mine = MemoryTools(workspaces)
    return (
        Tool("remember", f"Append one line to the user's memory ({MEMORY}). Only for what the user themself asked to be remembered.", RememberArguments, mine.remember, PEOPLE, writes="memory", ordered=lambda said, given: orders(said, given.text)),
        Tool("recall", "Read the user's memory, or the lines in which some words stand.", RecallArguments, mine.recall, PEOPLE),
        Tool("forget", "Take lines out of the user's memory. Only when the user asked for it.", ForgetArguments, mine.forget, PEOPLE, writes="memory"),
        Tool("propose_pruning", "Which lines could go when the memory is too long. Changes nothing.", NoArguments, mine.propose_pruning, PEOPLE),
        Tool("list_files", "The files in the user's workspace.", NoArguments, mine.list_files, PEOPLE),
        Tool("read_file", f"Read a text file of the user's workspace, {PROGRESS} too.", ReadFileArguments, mine.read_file, PEOPLE),
        Tool("write_file", "Write a text file into the user's workspace.", WriteFileArguments, mine.write_file, PEOPLE),
    )  # fmt: skip
