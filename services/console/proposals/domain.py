"""A proposal of the agent as people see it, and what can be said of it. No framework."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from schemas.agent.v1 import AppProposed, JobProposed, RecordProposed
from schemas.text import BadJson, canonical, parse_json
from schemas.work import AppDeclaration, CleanupJob, Table
from services.console.people.domain import Caller
from shared.errors import Conflict, NotFound, Refused

About = Literal["app", "record", "job"]
State = Literal["waiting", "accepted", "refused", "failed", "ended"]
Proposed = AppProposed | RecordProposed | JobProposed
Row = Any
"""A row of the database, by the names of its columns."""
VERDICTS = ("accept", "refuse")
MOST_REASON = 500
MOST_ROWS = 1000
"""Rows that one proposal may bring."""
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class Figures:
    """What a job's dry run found, and when it comes next; None: not known (rule 30)."""

    rows: int | None = None
    bytes: int | None = None
    undated: int | None = None
    understood: str = ""
    next: tuple[datetime, ...] = ()


NO_FIGURES = Figures()


@dataclass(frozen=True)
class Rows:
    """Rows that are proposed; `keys`: what names each, when they change rows that are there."""

    app: str
    table: str
    rows: list[dict[str, Any]]
    keys: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Shown:
    """One proposal. `body`: canonical JSON of what is proposed, as it came."""

    row: Row

    @property
    def about(self) -> About:
        found: About = self.row["about"]
        return found

    @property
    def waits(self) -> bool:
        return bool(self.row["state"] == "waiting")

    @property
    def declaration(self) -> AppDeclaration:
        return AppDeclaration.model_validate(parse_json(self.row["body"].encode()))

    @property
    def job(self) -> CleanupJob:
        return read_proposed_job(self.row["body"])

    @property
    def rows(self) -> Rows:
        return Rows(**parse_json(self.row["body"].encode()))


def read_proposed_job(body: str) -> CleanupJob:
    return CleanupJob.model_validate(parse_json(body.encode()))


def about_of(proposed: Proposed) -> About:
    if isinstance(proposed, AppProposed):
        return "app"
    return "job" if isinstance(proposed, JobProposed) else "record"


def body_of(proposed: Proposed) -> str:
    """Canonical JSON of what is proposed. Refused for rows that are no list of objects, or keys that do not fit them."""
    if isinstance(proposed, AppProposed):
        return canonical(proposed.declaration.model_dump(mode="json")).decode()
    if isinstance(proposed, JobProposed):
        return canonical(proposed.job.model_dump(mode="json")).decode()
    rows, keys = _objects(proposed.rows, "rows"), _objects(proposed.keys or "[]", "keys")
    if not rows or len(rows) > MOST_ROWS:
        raise Refused(f"A proposal brings 1 to {MOST_ROWS} rows; this one has {len(rows)}.", code="rows")
    if keys and len(keys) != len(rows):
        raise Refused("There is a key for each changed row, in the same order.", code="keys")
    try:
        return canonical({"app": proposed.app, "table": proposed.table, "rows": rows, "keys": keys}).decode()
    except TypeError as error:
        raise Refused("Rows hold text, whole numbers, true, false and null; decimals are text.", code="rows") from error


def title_of(proposed: Proposed) -> str:
    """In a few words, for lists."""
    if isinstance(proposed, AppProposed):
        return f"{proposed.declaration.title} ({proposed.declaration.slug})"
    if isinstance(proposed, JobProposed):
        return proposed.job.name
    return f"{proposed.app}.{proposed.table}"


def app_of(proposed: Proposed) -> str:
    if isinstance(proposed, AppProposed):
        return proposed.declaration.slug
    return proposed.job.app if isinstance(proposed, JobProposed) else proposed.app


def check_answerable(caller: Caller, row: Row | None, verdict: str, reason: str) -> str:
    """The reason, trimmed. NotFound, Forbidden, Conflict when somebody was first, Refused for no verdict or a reason that is missing or too long."""
    caller.require("connectors")
    if row is None:
        raise NotFound("There is no such proposal.")
    if verdict not in VERDICTS:
        raise Refused("A proposal is accepted or refused.", code="verdict")
    if row["state"] != "waiting":
        by = row["decided_by"] or "the console"
        raise Conflict(f"This proposal is {row['state']} already, by {by}. Nothing was changed.", code="decided")
    said = " ".join(reason.split())
    if len(said) > MOST_REASON:
        raise Refused(f"A reason has at most {MOST_REASON} characters.", code="reason")
    if verdict == "refuse" and not said:
        raise Refused("Say why it is refused: the agent tells whoever asked for it.", code="reason")
    return said


def _objects(text: str, what: str) -> list[dict[str, Any]]:
    try:
        found = parse_json(text.encode())
    except BadJson as bad:
        raise Refused(f"The {what} of this proposal are no JSON: {bad}.", code=what) from bad
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Refused(f"The {what} of this proposal are a list of objects.", code=what)
    return found


def merged(before: AppDeclaration, more: AppDeclaration) -> AppDeclaration:
    """What is there, with the tables and columns that the proposal adds. Refused when it would change one that is there: nothing is taken away by a proposal."""
    tables = {each.name: each for each in before.tables}
    for each in more.tables:
        held = tables.get(each.name)
        tables[each.name] = each if held is None else _widened(held, each)
    return before.model_copy(update={"tables": tuple(tables.values())})


def _widened(held: Table, more: Table) -> Table:
    columns = {each.name: each for each in held.columns}
    for each in more.columns:
        there = columns.setdefault(each.name, each)
        if there.type != each.type:
            raise Refused(f"{held.name}.{each.name} is {there.type} and cannot become {each.type}; choose another name.", code="column")  # fmt: skip
    return held.model_copy(update={"columns": tuple(columns.values())})
