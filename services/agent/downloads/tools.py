"""Files as links, for the person in the chat. A link that works for whoever has it sends something out: it waits on a card where untrusted text was read (S11)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from pydantic import Field

from services.agent.downloads.desk import Downloads
from services.agent.downloads.domain import LONGEST, Link
from services.agent.tools.domain import PEOPLE, Arguments, Asked, Found, Tool
from shared.errors import NotFound, Refused

MOST_DAYS = LONGEST.days
ANYBODY = "anybody who has the link"


class OfferArguments(Arguments):
    """`name`: a file in the workspace. `days`: how long the link works."""

    name: str = Field(min_length=1, max_length=1000)
    days: int = Field(default=1, ge=1, le=MOST_DAYS)


class ShareArguments(OfferArguments):
    """`sha256`: of the file's bytes, when a person has decided on exactly those."""

    sha256: str = Field(default="", max_length=64, description="Leave this empty.")


class NoArguments(Arguments):
    pass


class RevokeArguments(Arguments):
    """`name`: as the list has it; all links to it go."""

    name: str = Field(min_length=1, max_length=1000)


class DownloadTools:
    def __init__(self, downloads: Downloads) -> None:
        self._all = downloads

    async def offer(self, asked: Asked, given: OfferArguments) -> Found:
        link = await self._made(asked, given, by_mail=False)
        return Found(told(link) | {"url": link.url, "for": "the user, signed in"}, f"link to {link.name}")

    async def exact(self, asked: Asked, given: ShareArguments) -> ShareArguments:
        """As a card says it: with the very bytes (S11)."""
        with _of_a_file(given):
            return given.model_copy(update={"sha256": await self._all.digest(asked.me, given.name)})

    async def offer_anybody(self, asked: Asked, given: ShareArguments) -> Found:
        """Nobody reads what it brings when a card is carried out: then the link is told to the conversation."""
        link = await self._made(asked, given, by_mail=True)
        if given.sha256 and given.sha256 != await self._all.digest(asked.me, given.name):
            await self._all.revoke(asked.me, link.download_id)
            raise Refused(f"{given.name[:200]} holds something else by now than what was to be given away; there is no link.", code="changed")  # fmt: skip
        said = f"The link to {link.name}, for {ANYBODY}: {link.url}"
        return Found(told(link) | {"url": link.url, "for": ANYBODY}, f"link for anybody to {link.name}", said=said)

    async def _made(self, asked: Asked, given: OfferArguments, *, by_mail: bool) -> Link:
        with _of_a_file(given):
            return await self._all.register(asked.me, given.name, life=timedelta(days=given.days), by_mail=by_mail)

    async def listed(self, asked: Asked, given: NoArguments) -> Found:
        found = await self._all.list(asked.me)
        links = [told(each) | {"for": ANYBODY if each.by_mail else "the user, signed in"} for each in found]
        sources = await self._all.names_from_outside(asked.me) if links else ()
        return Found({"links": links}, f"{len(links)} download link{'' if len(links) == 1 else 's'}", sources)

    async def revoke(self, asked: Asked, given: RevokeArguments) -> Found:
        wanted = given.name.rpartition("/")[2].casefold()
        found = [each for each in await self._all.list(asked.me) if each.name.casefold() == wanted]
        if not found:
            raise NotFound("There is no link to a file of that name; list the links first.", code="download")
        for each in found:
            await self._all.revoke(asked.me, each.download_id)
        return Found({"revoked": len(found), "name": found[0].name}, f"took back {len(found)} links to {found[0].name}")


@contextmanager
def _of_a_file(given: OfferArguments) -> Iterator[None]:
    """NotFound: in words about a file, since no link is there yet."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"There is no file {given.name[:200]} in the workspace; list the files to see their names.", code="download") from error  # fmt: skip


def told(link: Link) -> dict[str, Any]:
    return {"name": link.name, "expires_at": link.expires_at.isoformat(timespec="minutes")}


def make_tools(downloads: Downloads) -> tuple[Tool, ...]:
    mine = DownloadTools(downloads)
    return (
        Tool("offer_download", "Give the user a file of their workspace as a link that expires. It works for the user alone, while they are signed in.", OfferArguments, mine.offer, PEOPLE),
        Tool("offer_download_to_anybody", "A link to a file of the user's workspace that works for whoever has it, without signing in, until it expires. Only when the user asks for one to pass on, by mail for instance.", ShareArguments, mine.offer_anybody, PEOPLE, writes="send", own=False, recipients=lambda _: (ANYBODY,), exact=mine.exact),
        Tool("list_downloads", "The user's download links that still work.", NoArguments, mine.listed, PEOPLE),
        Tool("revoke_download", "Take the user's download links to a file back; they open nothing any more.", RevokeArguments, mine.revoke, PEOPLE),
    )  # fmt: skip
