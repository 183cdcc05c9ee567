"""Figures over time for programs."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field

from services.console.analytics.domain import BY, check_engine, check_may
from services.console.analytics.reading import answer_of, read_question
from services.console.analytics.usecases.roll_up import roll_up
from services.console.parts import Console
from services.console.people.domain import Caller

_BY = "; ".join(f"{source}: {', '.join(each)}" for source, each in BY.items())


class EngineCost(BaseModel):
    """What an engine needed, or would have needed."""

    engine: str
    rows_read: int | None
    milliseconds: float | None
    measured: bool = Field(description="False: estimated, from Postgres' plan and from what earlier questions took.")
    why: str


class Rollup(BaseModel):
    """`rows`: bucket (`at`, null with bucket all), `key`, and the source's figures; a figure that nobody knows is null."""

    question: dict[str, Any]
    engine: str
    reason: str
    rows: list[dict[str, Any]]
    matched: int = Field(description="Of how many rows the figures were made.")
    more: bool
    cost: EngineCost
    other: EngineCost = Field(description="What the other engine would have cost.")
    equal: bool | None = Field(description="Whether both engines said the same, when both were asked.")


def add_routes(app: FastAPI, console: Console, known: Any) -> None:
    @app.get("/v1/analytics", summary="Signals, calls or spend in buckets of time")
    async def figures(
        caller: known,
        source: Annotated[str, Query(max_length=40, description="signals, calls or spend")] = "signals",
        bucket: Annotated[str, Query(max_length=40, description="all, minute, hour, day, week or month; UTC")] = "day",
        by: Annotated[str, Query(max_length=40, description=_BY)] = "none",
        days: Annotated[int, Query(ge=1, le=3660, description="Before now, without `since`.")] = 30,
        since: datetime | None = None,
        until: datetime | None = None,
        kind: Annotated[str, Query(max_length=40)] = "",
        item: Annotated[str, Query(max_length=40)] = "",
        lang: Annotated[str, Query(max_length=40)] = "",
        top: Annotated[int, Query(ge=1, le=5000)] = 5000,
        engine: Annotated[str, Query(max_length=40, description="postgres, or clickhouse with a reason")] = "postgres",
        reason: Annotated[str, Query(max_length=400)] = "",
        compare: Annotated[bool, Query(description="Ask both, and say whether they agree.")] = False,
    ) -> Rollup:
        assert isinstance(caller, Caller)
        given = {"source": source, "bucket": bucket, "by": by, "days": days, "since": since, "until": until}
        question = read_question({**given, "kind": kind, "item": item, "lang": lang, "top": top})
        check_may(caller, question.source)
        if compare:
            check_engine("clickhouse", reason)
        asked = check_engine(engine, reason)
        parts = (console.db, console.warehouse, console.settings)
        answer = await roll_up(*parts, question, asked, reason, caller.name, compare=compare)
        return Rollup(**answer_of(answer))
