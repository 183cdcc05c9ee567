"""The page of one's download links, and the addresses that they lead to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.agent.chat.callers import NOBODY, Caller
from services.agent.chat.front import Asked, Front
from services.agent.downloads.desk import Downloads
from services.agent.downloads.domain import MAILED, PAGES, Link, missing
from services.agent.downloads.handing import Handing
from services.agent.owners.domain import Me
from shared.errors import NotFound, Refused, SchleuseError

LIVES = {"1": "a day", "7": "a week", "30": "30 days"}


@dataclass(frozen=True)
class Shown:
    """`until` in the owner's zone."""

    link: Link
    until: str

    @classmethod
    def of(cls, link: Link, me: Me) -> "Shown":
        at = link.expires_at.astimezone(ZoneInfo(me.zone))
        return cls(link, f"{at:%Y-%m-%d %H:%M} ({me.zone})")


class DownloadPages:
    def __init__(self, front: Front, downloads: Downloads, handing: Handing) -> None:
        self._front, self._downloads, self._handing = front, downloads, handing

    def routes(self) -> list[Route]:
        page = self._front.page
        return [
            Route("/downloads", page(self.show), methods=["GET"]),
            Route("/downloads", page(self.make), methods=["POST"]),
            Route("/downloads/revoke", page(self.revoke), methods=["POST"]),
            Route(PAGES + "{rest:path}", page(self.own), methods=["GET"]),
            Route(MAILED + "{rest:path}", self.mailed, methods=["GET"]),
        ]

    async def own(self, asked: Asked) -> Response:
        found, opened = await self._downloads.own(asked.caller.me, asked.request.path_params["rest"])
        return await self._handing.answer(asked.request, found, opened)

    async def mailed(self, request: Request) -> Response:
        """Who asks does not matter, and is not looked at."""
        try:
            found, opened = await self._downloads.mailed(request.path_params["rest"], request.query_params)
        except NotFound as error:
            return self._front.tell(Caller(NOBODY), 404, "404: There is no such page", error.message)
        return await self._handing.answer(request, found, opened)

    async def show(self, asked: Asked) -> Response:
        return await self._show(asked)

    async def make(self, asked: Asked) -> Response:
        """A link for oneself or, with `by_mail`, for whoever has it, which is shown this once."""
        try:
            self._front.check(asked)
            life = timedelta(days=int(_chosen(asked.form)))
            link = await self._downloads.register(
                asked.caller.me, asked.form.get("path", ""), life=life, by_mail=asked.form.get("for") == "anybody"
            )
        except SchleuseError as error:
            return await self._show(asked, error.status, notice=error.message)
        return await self._show(asked, made=link)

    async def revoke(self, asked: Asked) -> Response:
        try:
            self._front.check(asked)
            await self._downloads.revoke(asked.caller.me, _id(asked.form))
        except SchleuseError as error:
            return await self._show(asked, error.status, notice=error.message)
        return await self._show(asked, done="The link is taken back. It opens nothing any more.")

    async def _show(
        self, asked: Asked, status: int = 200, *, notice: str = "", done: str = "", made: Link | None = None
    ) -> Response:  # fmt: skip
        me = asked.caller.me
        rows = [Shown.of(each, me) for each in await self._downloads.list(me)]
        path = asked.form.get("path", "") or asked.request.query_params.get("path", "")
        new = None if made is None else Shown.of(made, me)
        known = {
            "rows": rows,
            "notice": notice,
            "done": done,
            "made": new,
            "lives": LIVES,
            "path": "" if made else path,
        }
        return self._front.show(asked.caller, "downloads.html", status, here="files", **known)


def _chosen(form: Mapping[str, str]) -> str:
    found = form.get("days", "1")
    if found not in LIVES:
        raise Refused("Choose how long the link is to work.", code="life")
    return found


def _id(form: Mapping[str, str]) -> UUID:
    try:
        return UUID(form.get("download_id", ""))
    except ValueError:
        raise missing() from None
