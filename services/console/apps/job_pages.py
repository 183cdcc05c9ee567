"""Jobs of an app's code: switched on and off by a person, run now; on the app's page."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.apps.usecases.set_job import set_job, start_job
from services.console.desk import Desk, Visit, go


class AppJobPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/apps/{slug}/jobs/{name}", page(self.set, "connectors"), methods=["POST"]),
            Route("/apps/{slug}/jobs/{name}/run", page(self.run, "connectors"), methods=["POST"]),
        ]

    async def set(self, visit: Visit) -> Response:
        slug, name = _named(visit)
        on, zone = visit.form.text("on") == "yes", visit.form.text("zone")
        async with self._console.db.transaction() as tx:
            await set_job(tx, visit.caller, slug, name, on=on, zone=zone, wake=self._console.apps.wake)
        return go(f"/apps/{slug}#jobs")

    async def run(self, visit: Visit) -> Response:
        slug, name = _named(visit)
        async with self._console.db.transaction() as tx:
            run_id = await start_job(tx, visit.caller, slug, name)
            tx.after_commit(lambda: self._console.apps.run(run_id, slug, name))
        return go(f"/apps/{slug}#jobs")


def _named(visit: Visit) -> tuple[str, str]:
    return str(visit.request.path_params["slug"]), str(visit.request.path_params["name"])
