"""Files of the workspace as tools: folders, search, moving, deleting. What was read from outside marks what it writes (S11)."""

from typing import Any, Literal

from pydantic import Field

from services.agent.files.domain import Row
from services.agent.files.kept import Files
from services.agent.memory.domain import named
from services.agent.tools.domain import PEOPLE, Arguments, Asked, Found, Tool

MOST_LISTED = 200


class ListFolderArguments(Arguments):
    """`folder`: a path in the workspace; empty: its top."""

    folder: str = Field(default="", max_length=2000)


class SearchFilesArguments(Arguments):
    """`words`: what must stand in a line, or in a file's name, as it is. `folder`: only there."""

    words: str = Field(min_length=1, max_length=500)
    folder: str = Field(default="", max_length=2000)


class MoveFileArguments(Arguments):
    """`to`: the new path, or a folder that is there. `how`: refuse (a taken name), number (`name (2).ext`) or replace."""

    name: str = Field(min_length=1, max_length=2000)
    to: str = Field(min_length=1, max_length=2000)
    how: Literal["refuse", "number", "replace"] = "refuse"


class DeleteFileArguments(Arguments):
    """`everything`: also a folder that holds something, with all that is in it."""

    name: str = Field(min_length=1, max_length=2000)
    everything: bool = False


class MakeFolderArguments(Arguments):
    name: str = Field(min_length=1, max_length=2000)


class FileTools:
    def __init__(self, files: Files) -> None:
        self._all = files

    async def list_folder(self, asked: Asked, given: ListFolderArguments) -> Found:
        found = await self._all.list(asked.me, given.folder)
        rows = found[:MOST_LISTED]
        names = tuple(dict.fromkeys(f"name of the file {named(each.path)}" for each in rows if each.from_outside))
        return Found({"entries": [_row(each) for each in rows], "of": len(found)}, f"{len(found)} entries", names)

    async def search(self, asked: Asked, given: SearchFilesArguments) -> Found:
        """Lines are text of the files, and taint as reading them does."""
        found = await self._all.search(asked.me, given.words, given.folder)
        hits = [{"name": each.path, "line": each.line or None, "text": each.text} for each in found.hits]
        sources = tuple(dict.fromkeys(f"file {named(each.path)}" for each in found.hits if each.from_outside))
        return Found({"hits": hits, "everything_searched": found.whole}, f"{len(hits)} places", sources)

    async def move(self, asked: Asked, given: MoveFileArguments) -> Found:
        path = await self._all.move(asked.me, given.name, given.to, given.how, asked.tainted)
        return Found({"name": path}, f"moved {given.name} to {path}")

    async def delete(self, asked: Asked, given: DeleteFileArguments) -> Found:
        count = await self._all.delete(asked.me, given.name, everything=given.everything)
        return Found({"deleted": count}, f"deleted {given.name}")

    async def make_folder(self, asked: Asked, given: MakeFolderArguments) -> Found:
        path = await self._all.make_folder(asked.me, given.name)
        return Found({"name": path}, f"made the folder {path}")


def _row(row: Row) -> dict[str, Any]:
    if row.is_folder:
        return {"name": row.path, "folder": True, "about": row.about}
    return {"name": row.path, "bytes": row.size, "from_outside": row.from_outside}


def make_tools(files: Files) -> tuple[Tool, ...]:
    mine = FileTools(files)
    return (
        Tool("list_folder", "What lies in a folder of the user's workspace.", ListFolderArguments, mine.list_folder, PEOPLE),
        Tool("search_files", "Search the texts and names of all files in the user's workspace.", SearchFilesArguments, mine.search, PEOPLE),
        Tool("move_file", "Move or rename a file or folder of the user's workspace.", MoveFileArguments, mine.move, PEOPLE, writes="files"),
        Tool("delete_file", "Delete a file or folder of the user's workspace, for good. Only when the user asked for it.", DeleteFileArguments, mine.delete, PEOPLE, writes="files"),
        Tool("make_folder", "Make a folder in the user's workspace.", MakeFolderArguments, mine.make_folder, PEOPLE, writes="files"),
    )  # fmt: skip
