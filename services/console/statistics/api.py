"""The same figures for programs."""

from datetime import date, datetime
from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field

from services.console.parts import Console
from services.console.people.domain import Caller
from services.console.statistics.domain import check_period, check_whose
from services.console.statistics.views import statistics
from shared.clock import now


class DayFigures(BaseModel):
    """Decisions of one day, UTC."""

    day: date
    approve: int
    reject: int
    request_changes: int
    undone: int


class Figures(BaseModel):
    """Of one person, or of all together. Seconds from queued to decided; null when there is nothing to tell them from."""

    person_id: str | None
    name: str
    approve: int
    reject: int
    request_changes: int
    undone: int
    median: float | None = Field(description="Seconds.")
    p90: float | None = Field(description="Seconds.")


class StatisticsFigures(BaseModel):
    """`waiting` and `oldest` are about now, everything else about the period."""

    since: datetime
    days: list[DayFigures]
    total: Figures
    people: list[Figures]
    waiting: int
    oldest: datetime | None


def add_routes(app: FastAPI, console: Console, known: Any) -> None:
    @app.get("/v1/statistics", summary="Decisions by verdict and day, and how long they took")
    async def figures(
        caller: known,
        days: Annotated[int, Query(ge=1, le=365, description="1, 7, 30, 90 or 365")] = 30,
        everybody: Annotated[bool, Query(description="Everybody's figures; for owners and admins.")] = False,
    ) -> StatisticsFigures:
        assert isinstance(caller, Caller)
        check_period(days)
        whose = check_whose(caller, everybody=everybody)
        async with console.db.reading() as tx:
            found = await statistics(tx, whose, days, now())
        return StatisticsFigures(
            since=found.since,
            days=[DayFigures(**vars(each)) for each in found.days],
            total=Figures(**vars(found.total)),
            people=[Figures(**vars(each)) for each in found.people],
            waiting=found.waiting,
            oldest=found.oldest,
        )
