"""`/api/v1/files…`: one's own files, for programs and for the page. A file goes in as the request's body, piece by piece (rule 14)."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask

from services.agent.chat.api import Api
from services.agent.chat.api_bodies import Body
from services.agent.chat.callers import HEADER
from services.agent.downloads.names import disposition
from services.agent.files.domain import Hit, Row
from services.agent.files.kept import Files
from services.agent.files.taking import body_of, length_of
from services.agent.owners.domain import Me
from shared.errors import Unauthorized
from shared.identity.doors import PRIVATE

Path = Annotated[str, Query(max_length=2500, description="From the top of the workspace, joined by `/`.")]
BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}  # fmt: skip


class Entry(BaseModel):
    """A file or folder. `bytes` of a folder: null. `from_outside`: text in it came from outside; `odd`: letters of two alphabets in one word."""

    path: str
    name: str
    folder: bool
    bytes: int | None
    changed: datetime | None
    from_outside: bool
    odd: bool


class Folder(BaseModel):
    """`left`: bytes that may still be put in."""

    folder: str
    entries: list[Entry]
    files: int
    used: int
    left: int


class Place(BaseModel):
    """Where the words stand; `line` counts from 1, and is null when it is the name. `text`: the line."""

    path: str
    line: int | None
    text: str
    from_outside: bool


class Places(BaseModel):
    """`everything_searched`: false when it was too much for one search."""

    places: list[Place]
    everything_searched: bool


class Written(BaseModel):
    """The path that it has now."""

    path: str


class Gone(BaseModel):
    files: int


class NewFolder(Body):
    path: str = Field(max_length=2500)


class Move(Body):
    """`to`: a path, or a folder that is there."""

    path: str = Field(max_length=2500)
    to: str = Field(max_length=2500)
    how: Literal["refuse", "number", "replace"] = "refuse"


class Vouch(Body):
    path: str = Field(max_length=2500)


def add_files(app: FastAPI, api: Api, files: Files) -> None:
    """Each address once."""
    _reading(app, api, files)
    _changing(app, api, files)


def _reading(app: FastAPI, api: Api, files: Files) -> None:
    @app.get("/v1/files", summary="What lies in a folder of mine")
    async def listed(request: Request, folder: Path = "") -> Folder:
        me = signed_in(await api.who(request, None))
        rows, room = await files.list(me, folder), await files.room(me)
        known = {"files": room.files, "used": room.used, "left": room.left}
        return Folder.model_validate({"folder": folder, "entries": [_entry(each) for each in rows], **known})

    @app.get("/v1/files/search", summary="Lines and names in which these words stand")
    async def search(request: Request, q: Annotated[str, Query(max_length=500)], folder: Path = "") -> Places:
        found = await files.search(signed_in(await api.who(request, None)), q, folder)
        return Places(places=[_place(each) for each in found.hits], everything_searched=found.whole)

    @app.get("/v1/files/content", summary="A file as it is", response_class=StreamingResponse)
    async def content(request: Request, path: Path) -> StreamingResponse:
        return await sent(files, signed_in(await api.who(request, None)), path)


def _changing(app: FastAPI, api: Api, files: Files) -> None:
    async def who(request: Request) -> Me:
        return signed_in(await api.who(request, request.headers.get(HEADER, "")))

    @app.put("/v1/files/content", status_code=201, summary="Put a file in, at most 200 MB; the body is its content", openapi_extra=BODY)  # fmt: skip
    async def put(request: Request, path: Path, how: Literal["number", "replace", "refuse"] = "number") -> Written:
        me = await who(request)
        return Written(path=await files.put_in(me, path, body_of(request), how, length_of(request)))

    @app.delete("/v1/files", summary="Delete a file or an empty folder; with `everything` a folder and all in it")
    async def delete(request: Request, path: Path, everything: bool = False) -> Gone:
        return Gone(files=await files.delete(await who(request), path, everything=everything))

    @app.post("/v1/files/move", summary="Move or rename a file or folder")
    async def move(request: Request, new: Move) -> Written:
        return Written(path=await files.move(await who(request), new.path, new.to, new.how))

    @app.post("/v1/files/folders", status_code=201, summary="Make a folder")
    async def folder(request: Request, new: NewFolder) -> Written:
        return Written(path=await files.make_folder(await who(request), new.path))

    @app.post("/v1/files/vouch", status_code=204, summary="I have looked at it: what stands in it counts as mine (S11)")
    async def vouch(request: Request, new: Vouch) -> None:
        await files.vouch(await who(request), new.path)


async def sent(files: Files, me: Me, path: str) -> StreamingResponse:
    """The whole file, piece by piece, to be kept and never shown as a page of ours."""
    found = await files.open(me, path)
    headers = {**PRIVATE, "Content-Disposition": disposition(path.rpartition("/")[2]), "Content-Length": str(found.size)}  # fmt: skip
    headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return StreamingResponse(found.pieces(), headers=headers, media_type="application/octet-stream", background=BackgroundTask(found.close))  # fmt: skip


def signed_in(me: Me) -> Me:
    """Unauthorized for a guest, who has no files (rule 22)."""
    if me.is_guest:
        raise Unauthorized("A guest has no files; nothing of a guest is kept. Sign in for your own.", code="guest")
    return me


def _entry(row: Row) -> Entry:
    known = {"path": row.path, "name": row.name, "folder": row.is_folder, "bytes": None if row.is_folder else row.size}
    return Entry.model_validate(known | {"changed": row.changed, "from_outside": row.from_outside, "odd": row.odd})


def _place(hit: Hit) -> Place:
    return Place(path=hit.path, line=hit.line or None, text=hit.text, from_outside=hit.from_outside)
