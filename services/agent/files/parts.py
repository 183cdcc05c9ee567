"""Files, put together: what keeps them, their tools, their pages, their part of the API."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from starlette.routing import Route

from services.agent.chat.api import Api
from services.agent.chat.front import Front
from services.agent.files.api import add_files
from services.agent.files.kept import Files
from services.agent.files.pages import FilePages
from services.agent.files.tools import make_tools
from services.agent.manual.shelf import manual
from services.agent.manual.tools import make_tools as manual_tools
from services.agent.tools.domain import Tool
from shared.db import Database


@dataclass(frozen=True)
class FileParts:
    files: Files
    tools: tuple[Tool, ...]

    def pages(self, front: Front) -> Sequence[Route]:
        return FilePages(front, self.files).routes()

    def also(self, others: Callable[[FastAPI, Api], None]) -> Callable[[FastAPI, Api], None]:
        """What other parts add to the API, and files."""

        def add(app: FastAPI, api: Api) -> None:
            others(app, api)
            add_files(app, api, self.files)

        return add


def make_files(root: Path, db: Database) -> FileParts:
    """`root`: the folder that only this service can enter."""
    files = Files(root, db)
    return FileParts(files, (*make_tools(files), *manual_tools(manual())))
