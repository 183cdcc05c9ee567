"""What staff work with in the console: apps and their tables, cleanup jobs; proposed by the agent, installed and switched on by a person (S4, S15)."""

from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import Data, Hash, Instant, Line, Text
from schemas.statements import Statement
from schemas.text import canonical, sha256

AppSlug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
SqlName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
"""What a table or a column is called: lower case, never quoted."""
ColumnType = Literal["text", "integer", "decimal", "boolean", "date", "instant", "json"]
AppKind = Literal["report", "application", "artifact"]


class Column(Data):
    """`internal` never leaves the console; `shareable` may be picked for a page, which still waits for a person.

    `references`: `table.column` of the same app. `choices`: the only values, if there are any.
    """

    name: SqlName
    type: ColumnType = "text"
    title: Line = ""
    visibility: Literal["internal", "shareable"] = "internal"
    required: bool = False
    unique: bool = False
    index: bool = False
    references: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}\.[a-z][a-z0-9_]{0,59}$")] | None = None
    choices: Annotated[tuple[Line, ...], Field(max_length=200)] = ()


class Table(Data):
    """`key`: the columns that name a row; empty: the console numbers rows itself (column `id`). `name_by`: the column a row is shown by."""

    name: SqlName
    title: Line = ""
    columns: Annotated[tuple[Column, ...], Field(min_length=1, max_length=500)]
    key: tuple[SqlName, ...] = ()
    name_by: SqlName | None = None


class AppDeclaration(Data):
    """An app as the console installs it: what it is, what it needs, its tables. What the code of an app declares is read in its own process."""

    slug: AppSlug
    title: Annotated[Line, Field(min_length=1)]
    kind: AppKind
    about: Line = ""
    needs: Annotated[tuple[Line, ...], Field(max_length=20)] = ()
    tables: Annotated[tuple[Table, ...], Field(max_length=100)] = ()

    @property
    def hash(self) -> str:
        return sha256(canonical(self.model_dump(mode="json")))


class AppApproval(Statement):
    """A person lets exactly this folder be installed, or takes an app out of service. Signed by the console's decision key."""

    PURPOSE: ClassVar[str] = "schleuse.app.v1"
    purpose: Literal["schleuse.app.v1"] = "schleuse.app.v1"
    slug: AppSlug
    folder_hash: Hash
    verdict: Literal["install", "refuse", "stop"]
    decided_at: Instant
    decider: Hash
    prior_version: Annotated[int, Field(ge=0)]


class Condition(Data):
    """One condition on a column; all of a job's must hold. older_than: `value` is a number of days of 24 hours before the run's start (rule 13)."""

    column: SqlName
    op: Literal["older_than", "equals", "not_equals", "less", "greater", "one_of", "empty", "not_empty"]
    value: Annotated[Text, Field(max_length=2000)] = ""
    values: Annotated[tuple[Line, ...], Field(max_length=100)] = ()


ANY_APP, ANY_COLUMN = "any", "any"
"""In a proposal: the only app that has such a table, its column that says when a row came to be. The console says which it took."""


class CleanupJob(Data):
    """Rows of one table that go when all conditions hold, at the times that `schedule` says in words, in the owner's zone (rules 6 to 8, 13).

    A structured predicate, never SQL (S15). `app` is the app's slug, or `platform` for the console's own tables where that is allowed.
    """

    name: Annotated[Line, Field(min_length=1)]
    app: AppSlug
    table: SqlName
    conditions: Annotated[tuple[Condition, ...], Field(min_length=1, max_length=10)]
    schedule: Annotated[Line, Field(min_length=1)]
    zone: Line

    @property
    def hash(self) -> str:
        return sha256(canonical(self.model_dump(mode="json")))


class JobSetting(Statement):
    """A person switches a cleanup job on or off, bound to exactly what it does and to its dry run. Signed by the console's decision key."""

    PURPOSE: ClassVar[str] = "schleuse.job.v1"
    purpose: Literal["schleuse.job.v1"] = "schleuse.job.v1"
    job_id: UUID
    job_hash: Hash
    setting: Literal["on", "off"]
    dry_run_rows: Annotated[int, Field(ge=0)] | None = None
    decided_at: Instant
    decider: Hash
    prior_version: Annotated[int, Field(ge=0)]
