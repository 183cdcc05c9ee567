"""The operator's commands on share links (S12)."""

from typing import Any
from uuid import UUID

from services.console.links import store
from services.console.links.domain import ShareLink, check_end, read_link
from services.console.links.usecases.close_link import close_link
from services.console.links.usecases.open_link import open_link
from services.console.links.usecases.wait_for_link import wait_for_link
from services.console.operator import find_item
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from services.console.queue.times import read_time
from shared.clock import now
from shared.errors import Conflict, NotFound
from shared.operator import Verb
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 60.0


class LinkOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @property
    def verbs(self) -> dict[str, Verb]:
        return {"links.list": self.listed, "links.open": self.open, "links.close": self.close}

    async def listed(self, args: Args) -> Args:
        """args {"item"?: id or kind/lang/path} → {"links": [...]}, the newest first."""
        async with self._console.db.reading() as tx:
            name, at = args.get("item"), now()
            rows = await store.of_item(tx, await find_item(tx, str(name))) if name else await store.newest(tx)
        return {"links": [_plain(read_link(row, at)) for row in rows]}

    async def open(self, args: Args) -> Args:
        """args {"item", "label", "until"} → {"link": {...}, "url"}: the address, once. Returns when the lock has answered."""
        until = check_end(read_time(str(args["until"])), now())
        with span("console operator links.open"):
            async with self._console.db.transaction() as tx:
                item_id, key = await find_item(tx, str(args["item"])), await self._console.ring.signing(tx)
                opened = await open_link(tx, key, OPERATOR, item_id, str(args.get("label") or ""), until)
        link = await self._answered(opened.link_id)
        return {"link": _plain(link), "url": self._console.share_link(opened.token)}

    async def close(self, args: Args) -> Args:
        """args {"link", "reason"?} → {"link": {...}}."""
        try:
            link_id = UUID(str(args["link"]))
        except ValueError:
            raise NotFound(f"there is no share link {args['link']!r}; `schleuse links list` shows them", code="link") from None  # fmt: skip
        with span("console operator links.close"):
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                await close_link(tx, key, OPERATOR, link_id, str(args.get("reason") or ""))
        return {"link": _plain(await self._answered(link_id))}

    async def _answered(self, link_id: UUID) -> ShareLink:
        link = await wait_for_link(self._console.db, self._console.live, link_id, PATIENCE)
        if link.refusal:
            raise Conflict(f"the lock refused it: {link.refusal}", code="refused")
        return link


def _plain(link: ShareLink) -> Args:
    times = {name: at.isoformat() if (at := getattr(link, name)) else None for name in ("expires_at", "opened_at", "closed_at")}  # fmt: skip
    names = ("label", "state", "opened_by", "closed_by", "views", "refusal")
    return {"link": str(link.link_id), "item_id": str(link.item_id)} | {name: getattr(link, name) for name in names} | times  # fmt: skip
