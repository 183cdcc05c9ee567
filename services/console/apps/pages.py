"""The home of apps, with the tabs Reports, Applications and Artifacts; and what one can do with an app (start, stop, let the agent know)."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from schemas.work import AppKind
from services.console.apps.domain import KINDS
from services.console.apps.jobs import store as job_store
from services.console.apps.packages import store as packages
from services.console.apps.usecases.share_app import share_app
from services.console.apps.usecases.stop_app import start_app, stop_app
from services.console.apps.views import get_app, list_apps
from services.console.desk import Desk, Visit, go
from services.console.forms import query
from shared.clock import now
from shared.errors import Conflict, Refused

TABS: dict[AppKind, str] = {"report": "Reports", "application": "Applications", "artifact": "Artifacts"}


class AppPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/apps", page(self.home)),
            Route("/apps/{slug}", page(self.show)),
            Route("/apps/{slug}/stop", page(self.stop, "connectors"), methods=["POST"]),
            Route("/apps/{slug}/start", page(self.start, "connectors"), methods=["POST"]),
            Route("/apps/{slug}/share", page(self.share, "share"), methods=["POST"]),
        ]

    async def home(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            apps, waiting = await list_apps(tx), await packages.count_waiting(tx, now())
        counts = {kind: sum(each.declaration.kind == kind for each in apps) for kind in KINDS}
        asked = query(visit.request, "kind", 20)
        kind = asked if asked in KINDS else next((each for each in TABS if counts[each]), "application")
        shown = [each for each in apps if each.declaration.kind == kind]
        return await visit.show("apps.html", apps=shown, kind=kind, tabs=TABS, counts=counts, waiting_apps=waiting)

    async def show(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def _show(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        async with self._console.db.reading() as tx:
            app = await get_app(tx, _slug(visit))
            decisions = await packages.decisions(tx, app.slug)
            jobs, runs = await job_store.listed(tx, app.slug), await job_store.runs(tx, app.slug)
        return await visit.show("app.html", status, **({"app": app, "decisions": decisions, "jobs": jobs, "runs": runs, "refused": None, "typed": ""} | context))  # fmt: skip

    async def stop(self, visit: Visit) -> Response:
        reason = visit.form.text("reason")
        try:
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                await stop_app(tx, key, visit.caller, _slug(visit), reason, self._console.catalogue.on_changed)
        except (Refused, Conflict) as refused:
            return await self._show(visit, refused.status, refused=refused, typed=reason)
        return go(f"/apps/{_slug(visit)}")

    async def start(self, visit: Visit) -> Response:
        try:
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                await start_app(tx, key, visit.caller, _slug(visit), self._console.catalogue.on_changed)
        except (Refused, Conflict) as refused:
            return await self._show(visit, refused.status, refused=refused)
        return go(f"/apps/{_slug(visit)}")

    async def share(self, visit: Visit) -> Response:
        shared = visit.form.text("shared") == "yes"
        async with self._console.db.transaction() as tx:
            await share_app(
                tx, visit.caller, _slug(visit), shared=shared, on_changed=self._console.catalogue.on_changed
            )
        return go(f"/apps/{_slug(visit)}")


def _slug(visit: Visit) -> str:
    return str(visit.request.path_params["slug"])
