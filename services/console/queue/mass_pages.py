"""One word on everything that waits and fits a filter, up to 10,000: what it would do in figures, and then the work as a job (rule 31)."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import Form
from services.console.queue import mass_views
from services.console.queue.deciding import Deciding, Wanted
from services.console.queue.domain import Order
from services.console.queue.jobs import Jobs, wait
from services.console.queue.mass_views import Mass
from services.console.queue.one_word import PATIENCE, said, show_job, times_of, word_of
from services.console.queue.pages import read_filter
from services.console.queue.views import Filter
from shared.clock import now
from shared.errors import Conflict, Refused

MOST = 10_000
"""Items that are decided with one word."""
SHOWN = 60
"""So many of them are listed by name; the rest is told in figures, so that the page stays small."""
KEPT = ("kind", "lang", "findings", "q")


class MassPages:
    """What waits with findings never takes part: each of those is looked at."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        self._desk, self._console, self._jobs = desk, desk.console, jobs
        self._deciding = Deciding(desk.console)

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/queue/all", page(self.ask, "decide")),
            Route("/queue/all", page(self.decide, "decide"), methods=["POST"]),
        ]

    async def ask(self, visit: Visit) -> Response:
        return await self._dialog(visit, replace(read_filter(visit.request), state="submitted", page=1), now())

    async def decide(self, visit: Visit) -> Response:
        """Decides on exactly the list that was shown; when that is another one now, shows it as it is."""
        form = visit.form
        by = Filter("submitted", form.text("kind"), form.text("lang"), form.text("findings"), form.text("q"))
        until = _moment(form)
        try:
            if form.text("verdict") == "look":
                return await self._dialog(visit, by, until, times=times_of(form))
            made = word_of(form)
            mass = await self._mass(by, until)
            if mass.digest != form.mark("digest"):
                raise Conflict("Some of these were decided or changed meanwhile. This is what waits now.", code="stale")
        except (Refused, Conflict) as refused:
            fresh = now() if isinstance(refused, Conflict) else until
            return await self._dialog(visit, by, fresh, refused.status, refused=refused)
        work = partial(self._deciding.run, visit.caller, made["batch"], _orders(mass, made))
        job = self._jobs.start(visit.caller, said(made), len(mass.rows), work, **made)
        if not await wait(job, PATIENCE):
            return go(f"/queue/together/{job.id}")
        return await show_job(visit, job)

    async def _mass(self, by: Filter, until: datetime) -> Mass:
        async with self._console.db.reading() as tx:
            return await mass_views.read_mass(tx, by, until, MOST)

    async def _dialog(self, visit: Visit, by: Filter, until: datetime, status: int = 200, **context: Any) -> Response:
        mass, form = await self._mass(by, until), visit.form
        kept = {name: getattr(by, name) for name in KEPT}
        facts = {
            "mass": mass,
            "kinds": Counter((row["kind"], row["lang"], row["audience"]) for row in mass.rows).most_common(),
            "authors": Counter(row["by_name"] for row in mass.rows).most_common(10),
            "replacing": sum(row["published_revision"] is not None for row in mass.rows),
            "listed": mass.rows[:SHOWN],
            "kept": kept,
            "others": urlencode({**kept, "state": "submitted", "findings": "some"}),
            "shown_at": until.isoformat(),
            "typed": {name: form.text(name) for name in ("reason", "at", "until")},
            "soonest": f"{now():%Y-%m-%dT%H:%M}",
            "site": self._console.site_url,
            "most": MOST,
        }
        return await visit.show("together_all.html", status, **{**facts, "refused": None, "times": None, **context})


def _orders(mass: Mass, made: dict[str, Any]) -> list[Wanted]:
    rows = mass.rows
    seen = [Order(row["item_id"], "approve", "", row["revision"], row["content_hash"], row["version"]) for row in rows]
    return [(replace(order, **made), row["title"]) for order, row in zip(seen, rows, strict=True)]


def _moment(form: Form) -> datetime:
    """Until when what waited was shown. Refused for what no page of ours sends."""
    try:
        at = datetime.fromisoformat(form.text("shown_at"))
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Refused("The list does not say when it was shown; open it again.", code="order")
