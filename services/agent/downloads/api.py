"""`/api/v1/downloads`: one's own links, for programs."""

from datetime import datetime, timedelta
from uuid import UUID

from fastapi import FastAPI, Request
from pydantic import BaseModel, Field

from services.agent.chat.api import Api
from services.agent.chat.api_bodies import Body
from services.agent.chat.callers import HEADER
from services.agent.downloads.desk import Downloads
from services.agent.downloads.domain import Link


class NewDownload(Body):
    """`minutes`: how long it lives; a day without, a week for a link that anybody may use. `name`: what it is called for whoever fetches it."""

    path: str = Field(max_length=4096)
    minutes: int | None = Field(default=None, ge=1, le=43_200)
    by_mail: bool = False
    name: str = Field(default="", max_length=1024)


class Download(BaseModel):
    """`url`: for its owner; of a link for anybody it is told once, when it is made, and empty afterwards."""

    download_id: UUID
    name: str
    url: str
    expires_at: datetime
    by_mail: bool


def add_downloads(app: FastAPI, api: Api, downloads: Downloads) -> None:
    @app.get("/v1/downloads", summary="My download links that have not expired")
    async def listed(request: Request) -> list[Download]:
        found = await downloads.list(await api.who(request, None))
        return [told(each, "" if each.by_mail else each.url) for each in found]

    @app.post("/v1/downloads", summary="A link to a file of my workspace", status_code=201)
    async def register(request: Request, new: NewDownload) -> Download:
        me = await api.who(request, request.headers.get(HEADER, ""))
        life = None if new.minutes is None else timedelta(minutes=new.minutes)
        made = await downloads.register(me, new.path, life=life, by_mail=new.by_mail, name=new.name)
        return told(made, made.url)

    @app.delete("/v1/downloads/{download_id}", summary="Take a link back", status_code=204)
    async def revoke(request: Request, download_id: UUID) -> None:
        await downloads.revoke(await api.who(request, request.headers.get(HEADER, "")), download_id)


def told(link: Link, url: str) -> Download:
    return Download(download_id=link.download_id, name=link.name, url=url, expires_at=link.expires_at, by_mail=link.by_mail)  # fmt: skip
