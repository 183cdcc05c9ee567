"""Whoever sends something: about which item it is, and who it is today. For one readership; whoever holds a share link, too."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from starlette.requests import Request

from services.site.publication.domain import Published
from services.site.publication.links import ShareLink
from services.site.publication.shelf import Shelf, View
from services.site.reading.rendering import href
from services.site.signals.domain import PER_MINUTE, FormTokens
from services.site.signals.limits import RateLimit
from services.site.signals.visitors import Visitors
from shared.clock import now
from shared.errors import Forbidden, NotFound, TooMany

LINK = "link"
"""The field of a form on a page that was reached by a share link: its token, which never stands in an address that a form leads to."""


@dataclass(frozen=True)
class Subject:
    """The item that a form is about, and where its sender reads it. `token`: of the share link that they came by."""

    item: Published
    address: str
    link: ShareLink | None = None
    token: str = ""


class TooManySignals(TooMany):
    """More than 30 signals in the last minute (rule 25). `wait`: seconds until the next is taken."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"at most {PER_MINUTE} signals a minute are taken; wait {wait} seconds")
        self.wait = wait


class Reception:
    """What these readers cannot see, they cannot send anything about, and nothing tells that from what does not exist."""

    def __init__(self, shelf: Shelf, visitors: Visitors, tokens: FormTokens, limit: RateLimit, view: View) -> None:
        self._shelf, self._visitors, self._tokens, self._limit = shelf, visitors, tokens, limit
        self.view = view

    def shared(self, token: str) -> Subject | None:
        """What a share link's token opens now (rule 29)."""
        link = self._shelf.links.find(token, now())
        item = self._shelf.linked.item(link.item_id) if link else None
        return Subject(item, f"/l/{token}", link, token) if item else None

    def subject(self, form: Mapping[str, str]) -> Subject:
        """The published item that a form is about. NotFound for any other; Forbidden for a form that is not ours."""
        found = self.shared(form[LINK]) if form.get(LINK) else self._public(form)
        if found is None:
            raise NotFound("there is no such page")
        if not self._tokens.is_good(form.get("token", ""), found.item.item_id, now().date()):
            raise Forbidden(
                "this form is too old or not ours; open the page again and send it from there", code="token"
            )
        return found

    def _public(self, form: Mapping[str, str]) -> Subject | None:
        try:
            item = self.view.item(UUID(form.get("item_id", "")))
        except ValueError:
            return None
        return Subject(item, href(item.url)) if item else None

    def token_for(self, item_id: UUID) -> str:
        """The token of a form about an item, as its page has it today."""
        return self._tokens.make(item_id, now().date())

    async def visitor(self, request: Request) -> str:
        """The day's pseudonym of whoever sends this."""
        client = request.client.host if request.client else ""
        return await self._visitors.name(client, request.headers)

    def wait(self, visitor: str) -> int:
        """0 when one more signal is within the limit, and it is counted; else the seconds until one is."""
        return self._limit.wait(visitor)

    async def admit(self, request: Request) -> str:
        """The visitor's pseudonym; TooManySignals when they have sent enough."""
        visitor = await self.visitor(request)
        wait = self.wait(visitor)
        if wait:
            raise TooManySignals(wait)
        return visitor
