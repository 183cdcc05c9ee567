"""The word that is the same for many items, as a form says it, and the page on which its work is watched."""

from datetime import datetime
from typing import Any

from starlette.responses import Response

from schemas.model import Verdict
from services.console.desk import Visit
from services.console.forms import Form
from services.console.queue.domain import check_reason
from services.console.queue.jobs import LISTED, Job
from services.console.queue.pages import verdict_of
from services.console.queue.times import check_times, read_time
from services.console.undo.domain import WORDS
from services.console.undo.showing import offers
from shared.clock import now
from shared.ids import new_id

PATIENCE = 10.0
"""Seconds in which most of it is done; after that a page shows how far it is."""
TIMES = {"publish_at": "at", "expire_at": "until"}


async def show_job(visit: Visit, job: Job) -> Response:
    """How far it is, or what came of it."""
    undo = await offers(visit.desk.console.db, visit.caller)
    return await visit.show("together_done.html", 503 if job.fault else 200, job=job, listed=LISTED, **undo)


def times_of(form: Form) -> dict[str, datetime | None]:
    """What was typed, checked."""
    found = {name: read_time(form.text(field)) if form.text(field) else None for name, field in TIMES.items()}
    check_times("approve", found["publish_at"], found["expire_at"], now())
    return found


def word_of(form: Form) -> dict[str, Any]:
    """What is the same in every order, checked before any of them is made."""
    verdict, at, until = verdict_of(form)
    check_times(verdict, at, until, now())
    reason = check_reason(verdict, form.text("reason"))
    return {"verdict": verdict, "reason": reason, "publish_at": at, "expire_at": until, "batch": new_id()}


def said(made: dict[str, Any]) -> str:
    """The word as a participle."""
    verdict: Verdict = made["verdict"]
    return "scheduled" if made["publish_at"] else WORDS[verdict]
