"""The same figures for programs."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field

from services.console.parts import Console
from services.console.people.domain import Caller
from services.console.spend.domain import Cap, Line, check_by, check_days, check_whose, plain
from services.console.spend.reading import Spend, read_spend
from shared.clock import now

_MONEY = "US dollars, exact, as a decimal in a string."


class SpendLine(BaseModel):
    """One owner, app, model, day or turn."""

    key: str
    name: str
    calls: int
    cost: str = Field(description=f"{_MONEY} Of the calls whose cost is known.")
    unknown: int = Field(description="Calls whose cost nobody knows; they are not in `cost`.")
    estimated: int = Field(description="Calls for which the provider gave no figure.")
    tokens_in: int | None
    tokens_out: int | None
    at: datetime | None = Field(description="When its newest call was reserved.")


class SpendCap(BaseModel):
    """An account's last 24 hours beside its cap."""

    key: str
    name: str
    cap: str | None = Field(description=f"{_MONEY} Null: no limit.")
    spent: str = Field(description=_MONEY)
    left: str | None = Field(description="Null: no limit. What runs now is not in it; the agent knows that.")
    unknown: int


class SpendFigures(BaseModel):
    """`more`: there are lines that are not listed; `total` counts them all."""

    by: str
    since: datetime
    until: datetime
    lines: list[SpendLine]
    total: SpendLine
    more: bool
    last_24_hours: list[SpendCap]


def figures_of(found: Spend) -> SpendFigures:
    report = found.report
    return SpendFigures(
        by=report.by,
        since=report.since,
        until=report.until,
        lines=[_line(each) for each in report.lines],
        total=_line(report.total),
        more=report.more,
        last_24_hours=[_cap(each) for each in found.caps],
    )


def _line(line: Line) -> SpendLine:
    return SpendLine(**{**vars(line), "cost": plain(line.cost)})


def _cap(cap: Cap) -> SpendCap:
    limit, left = (None if each is None else plain(each) for each in (cap.cap, cap.left))
    return SpendCap(key=cap.key, name=cap.name, cap=limit, spent=plain(cap.spent), left=left, unknown=cap.unknown)


def add_routes(app: FastAPI, console: Console, known: Any) -> None:
    @app.get("/v1/spend", summary="What the agent spent, by owner, app, model, day or turn")
    async def spend(
        caller: known,
        by: Annotated[str, Query(max_length=40, description="owner, app, model, day or turn")] = "owner",
        days: Annotated[int, Query(ge=1, le=365, description="Of 24 hours each: 1 is what the cap looks at.")] = 30,
        everybody: Annotated[bool, Query(description="Everybody's; for owners and admins.")] = False,
    ) -> SpendFigures:
        assert isinstance(caller, Caller)
        whose = check_whose(caller, everybody=everybody)
        async with console.db.reading() as tx:
            return figures_of(await read_spend(tx, check_by(by), whose, check_days(days), now()))
