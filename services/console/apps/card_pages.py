"""The card of a folder that was sent as an app: what is in it, what it would change; install or refuse (S4, S5)."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from services.console.apps.packages import store as packages
from services.console.apps.packages.domain import Changes, Shown, changes, read_package_row
from services.console.apps.usecases.decide_app import Order, decide_app
from services.console.apps.usecases.offer_app import place_of
from services.console.apps.views import find_app
from services.console.desk import Desk, Visit, go
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused


class AppCardPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/cards/apps", page(self.list, "connectors")),
            Route("/cards/apps/{folder_hash}", page(self.show, "connectors")),
            Route("/cards/apps/{folder_hash}/decide", page(self.decide, "connectors"), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            at = now()
            waiting = [read_package_row(row, at) for row in await packages.waiting(tx, at)]
            settled = [read_package_row(row, at) for row in await packages.settled(tx, at)]
        return await visit.show("app_cards.html", waiting_apps=waiting, settled=settled)

    async def show(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def _show(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        async with self._console.db.reading() as tx:
            row = await packages.one(tx, str(visit.request.path_params["folder_hash"]))
            if row is None:
                raise NotFound("There is no such card.")
            shown = read_package_row(row, now())
            files = await packages.listed(tx, shown.folder_hash)
            found = await _changes(tx, shown, files)
            app = await find_app(tx, shown.slug)
        told = {"shown": shown, "files": files, "changes": found, "app": app, "refused": None, "typed": ""}
        return await visit.show("app_card.html", status, **(told | context))

    async def decide(self, visit: Visit) -> Response:
        order = Order(
            str(visit.request.path_params["folder_hash"]), visit.form.text("verdict"), visit.form.text("reason")
        )
        try:
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                slug = await decide_app(tx, key, visit.caller, order, self._console.catalogue.on_changed)
        except (Refused, Conflict) as refused:
            return await self._show(visit, refused.status, refused=refused, typed=order.reason)
        self._console.live.tell(event="cards")
        return go(f"/apps/{slug}" if order.verdict == "install" else place_of(order.folder_hash))


async def _changes(tx: Tx, shown: Shown, files: list[dict[str, Any]]) -> Changes:
    before = await find_app(tx, shown.slug)
    if before is not None and before.folder_hash == shown.folder_hash:
        return Changes()
    old = await packages.listed(tx, before.folder_hash) if before else []
    return changes(before, shown, _hashes(old), _hashes(files))


def _hashes(files: list[dict[str, Any]]) -> dict[str, str]:
    return {each["path"]: each["hash"] for each in files}
