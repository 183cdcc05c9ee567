"""Secrets: what there is, who may use it where, when it was last used and when it expires. Values go in, and never come back. For owners and admins."""

from datetime import timedelta
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from schemas.outward import ASKERS, SecretPlace
from services.console.desk import Desk, Visit, go
from services.console.forms import query
from services.console.secrets import views
from services.console.secrets.domain import ACTIONS, WARN_BEFORE, Action, page_of
from services.console.secrets.forms import (
    OVERLAPS,
    TYPE_WORDS,
    Given,
    fields_of,
    place_of,
    read_change,
    shown_again,
)
from services.console.secrets.usecases.change_secret import change_secret
from services.console.secrets.usecases.wait_for_change import wait_for_change
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused
from shared.sealing import read_place, read_recipient
from shared.sealing.types import check_type

PATIENCE = 10.0
LATELY = timedelta(days=1)


class SecretPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/secrets", page(self.list, "connectors")),
            Route("/secrets", page(self.put, "connectors"), methods=["POST"]),
            Route("/secrets/at/{place:path}", page(self.show, "connectors")),
            Route("/secrets/at/{place:path}", page(self.change, "connectors"), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        asked = query(visit.request, "type", 40)
        given = Given({name: query(visit.request, name, 100) for name in ("surface", "connector", "owner", "name")})
        return await self._list(visit, kind=check_type(asked) if asked else "api_key", given=given)

    async def put(self, visit: Visit) -> Response:
        kind = check_type(visit.form.text("type"))
        try:
            place = place_of(visit.form)
            await self._decide(visit, "put", place, kind)
        except (Refused, Conflict) as refused:
            return await self._list(visit, refused.status, kind=kind, given=shown_again(visit.form), refused=refused)
        async with self._console.db.reading() as tx:
            there = await views.one(tx, str(place))
        return go(f"{page_of(place) if there else '/secrets'}#main")  # or the browser keeps the form's own fragment

    async def show(self, visit: Visit) -> Response:
        return await self._one(visit)

    async def change(self, visit: Visit) -> Response:
        place, row = await self._row(visit)
        action = next((each for each in ACTIONS if each == visit.form.text("action")), None)
        if action is None:
            raise Refused("This form asks for nothing that can be done with a secret.", code="action")
        try:
            await self._decide(visit, action, place, check_type(row["type"]))
        except (Refused, Conflict) as refused:
            given = shown_again(visit.form)
            return await self._one(visit, refused.status, refused=refused, given=given, about=action)
        return go(page_of(place))

    async def _decide(self, visit: Visit, action: Action, place: SecretPlace, kind: Any) -> None:
        """Conflict when the lock or the connectors refuse it; returns when it is in force, or when nobody answered in time."""
        recipient = read_recipient(self._console.settings.public_keys)
        change = read_change(visit.form, action, place, kind, recipient)
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            statement_hash = await change_secret(tx, key, visit.caller, change)
        outcome, reason = await wait_for_change(self._console.db, self._console.live, statement_hash, PATIENCE)
        if outcome == "refused":
            raise Conflict(f"Nothing was changed: {reason}", code="refused")

    async def _list(self, visit: Visit, status: int = 200, *, kind: Any, **context: Any) -> Response:
        async with self._console.db.reading() as tx:
            rows, open_ones = await views.every(tx), await views.not_in_force(tx, now() - LATELY)
        told: dict[str, Any] = {"refused": None, "given": Given()} | context
        kinds = {"kind": kind, "types": TYPE_WORDS, "fields": fields_of(kind), "surfaces": ASKERS}
        connectors = sorted({row["connector"] for row in rows})
        soon = now() + WARN_BEFORE[0]
        return await visit.show(
            "secrets.html",
            status,
            rows=rows,
            at=now(),
            soon=soon,
            connectors=connectors,
            open_ones=open_ones,
            **kinds,
            **told,
        )

    async def _one(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        place, row = await self._row(visit)
        async with self._console.db.reading() as tx:
            uses, changes = await views.uses(tx, str(place)), await views.changes(tx, str(place))
        told: dict[str, Any] = {"refused": None, "given": Given(), "about": ""} | context
        facts = {
            "row": row,
            "public": Given(row["public"]),
            "uses": uses,
            "changes": changes,
            "fields": fields_of(check_type(row["type"])),
        }
        times = {"at": now(), "soon": now() + WARN_BEFORE[0], "overlaps": OVERLAPS, "types": TYPE_WORDS}
        return await visit.show("secret.html", status, **facts, **times, **told)

    async def _row(self, visit: Visit) -> tuple[SecretPlace, dict[str, Any]]:
        try:
            place = read_place(visit.request.path_params["place"])
        except Refused:
            raise NotFound("There is no such secret.") from None
        async with self._console.db.reading() as tx:
            row = await views.one(tx, str(place))
        if row is None:
            raise NotFound(f"There is no secret {place}.", code="secret_unknown")
        return place, row
