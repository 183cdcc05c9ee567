"""The pages of connectors, for owners and admins: declared by a form, on and off by a switch, who may use them, how they are."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from services.console.cards import store as cards
from services.console.cards.domain import read_card
from services.console.connectors import store
from services.console.connectors.domain import TYPED_PATTERN, Declared, read_settings
from services.console.connectors.forms import FORMS, fields_of, given, settings_of, typed
from services.console.connectors.usecases.declare_connector import declare_connector
from services.console.connectors.usecases.wait_for_setting import wait_for_setting
from services.console.desk import Desk, Visit, go
from services.console.forms import query
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused

CHANGES = 50
AT_ONCE = 5.0
"""Seconds that a page waits for the answer, to show it at once; later it comes by itself."""


class ConnectorPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/connectors", page(self.list, "connectors")),
            Route("/connectors", page(self.declare, "connectors"), methods=["POST"]),
            Route("/connectors/new", page(self.new, "connectors")),
            Route("/connectors/{name}", page(self.show, "connectors")),
            Route("/connectors/{name}/switch", page(self.switch, "connectors"), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        return await self._list(visit, asked=query(visit.request, "set", 64))

    async def _list(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        async with self._console.db.reading() as tx:
            rows, changes, at = await store.listed(tx), await store.changes(tx, CHANGES), now()
            grants = {row["name"]: [read_card(each, at) for each in await cards.allowed(tx, row["name"])] for row in rows}  # fmt: skip
        coming = {row["name"]: row for row in reversed(changes) if row["outcome"] == "sent"}
        fresh = [row for name, row in coming.items() if name not in grants]
        asked = {"asked": "", "refused": None, "typed": "", "restored_at": self._console.settings.restored_at} | context
        return await visit.show(
            "connectors.html", status, rows=rows, grants=grants, coming=coming, fresh=fresh, changes=changes, **asked
        )

    async def new(self, visit: Visit) -> Response:
        kind = query(visit.request, "kind", 64) or "http"
        return await self._form(visit, "", kind, typed(kind, {}))

    async def show(self, visit: Visit) -> Response:
        name, row = await self._held(visit)
        return await self._form(visit, name, row["kind"], typed(row["kind"], read_settings(row["settings"])))

    async def _held(self, visit: Visit) -> tuple[str, Mapping[Any, Any]]:
        name = visit.request.path_params["name"]
        async with self._console.db.reading() as tx:
            row = await store.one(tx, name)
        if row is None:
            raise NotFound("There is no such connector.")
        return name, row

    async def _form(
        self, visit: Visit, name: str, kind: str, text: Mapping[str, str], status: int = 200, **context: Any
    ) -> Response:
        async with self._console.db.reading() as tx:
            row, changes, at = await store.one(tx, name), await store.changes(tx, CHANGES, name), now()
            grants = [read_card(each, at) for each in await cards.allowed(tx, name)] if row else []
        told: dict[str, Any] = {"name": name, "kind": kind, "given": text, "row": row, "changes": changes}
        told |= {"fields": fields_of(kind), "kinds": tuple(FORMS), "grants": grants, "pattern": TYPED_PATTERN}
        nothing = {"refused": None, "reason": "", "new_name": ""}
        return await visit.show("connector.html", status, **told, **(nothing | context))

    async def declare(self, visit: Visit) -> Response:
        """A new one, or new settings of one: `version` 0 or what its page showed."""
        form = visit.form
        name, kind, reason = form.text("name").strip(), form.text("kind").strip(), form.text("reason")
        text, version = given(kind, form), form.whole("version") or 0
        try:
            declared = Declared(name, kind, settings_of(kind, text), form.text("enabled") == "yes")
            await self._declare(visit, declared, reason, version)
        except (Refused, Conflict) as refused:
            shown = name if version else ""
            typed_again: dict[str, Any] = {"refused": refused, "reason": reason, "new_name": name}
            return await self._form(visit, shown, kind, text, refused.status, **typed_again)
        return go("/connectors")

    async def switch(self, visit: Visit) -> Response:
        name, row = await self._held(visit)
        reason, on = visit.form.text("reason"), visit.form.text("to") == "on"
        declared = Declared(name, row["kind"], read_settings(row["settings"]), on)
        try:
            await self._declare(visit, declared, reason, visit.form.whole("version"))
        except (Refused, Conflict) as refused:
            return await self._list(visit, refused.status, asked=name, refused=refused, typed=reason)
        return go("/connectors")

    async def _declare(self, visit: Visit, declared: Declared, reason: str, version: int | None) -> None:
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            sent = await declare_connector(tx, key, visit.caller, declared, reason, version)
        outcome, why = await wait_for_setting(self._console.db, self._console.live, sent, AT_ONCE)
        if outcome == "refused":
            raise Refused(f"Nothing was changed: {why}", code="refused")
