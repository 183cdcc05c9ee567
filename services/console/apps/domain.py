"""Apps as the console knows them, and what a declaration must keep to. No framework."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from schemas.work import AppDeclaration, AppKind, AppSlug, Column, Table
from shared.errors import Refused

AppState = Literal["installed", "stopped", "broken"]
KINDS: tuple[AppKind, ...] = get_args(AppKind)
MAX_COLUMNS = 5000
"""Of all tables of an app together."""
RESERVED = frozenset({"id", "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "oid"})
"""`id` is the number that the console gives rows of a table without a key; the others are the database's own."""
TAKEN = frozenset({"platform", "apps", "app", "any"})
"""Slugs that mean something else here: `platform` is what jobs call the console's own tables, `any` what a proposal calls the only app that fits."""


@dataclass(frozen=True)
class InstalledApp:
    """An app that is there. `schema_name`: where its tables lie. `version`: counts its installations. `shared`: the agent may know of it.

    `role`: the Postgres role of its code, empty for an app of plain tables. `reason`: why it is broken or stopped. `pages`: paths of the pages that
    its code has; `described_version`: the version whose code has said so.
    """

    slug: AppSlug
    declaration: AppDeclaration
    state: AppState
    version: int
    shared: bool
    folder_hash: str
    role: str
    reason: str
    by_name: str
    installed_at: datetime
    pages: tuple[str, ...] = ()
    described_version: int = 0

    @property
    def schema_name(self) -> str:
        return schema_of(self.slug)

    @property
    def has_code(self) -> bool:
        return bool(self.role)

    def table(self, name: str) -> Table | None:
        return next((each for each in self.declaration.tables if each.name == name), None)


def schema_of(slug: str) -> str:
    """A slug has no underscore, so no two apps share a schema."""
    return f"app_{slug.replace('-', '_')}"


def key_columns(table: Table) -> tuple[str, ...]:
    """What names a row: the declared key, or `id`."""
    return table.key or ("id",)


def is_internal(column: Column) -> bool:
    return column.visibility == "internal"


def check_declaration(declaration: AppDeclaration) -> AppDeclaration:
    """Refused, naming table and column, for what could not be made or would mean two things."""
    if declaration.slug in TAKEN:
        raise _refused(f"an app cannot be called {declaration.slug!r}; choose another slug")
    if sum(len(each.columns) for each in declaration.tables) > MAX_COLUMNS:
        raise _refused(f"an app has at most {MAX_COLUMNS} columns in all its tables together")
    _once((each.name for each in declaration.tables), "the app", "table")
    for table in declaration.tables:
        for fault in _faults(declaration, table):
            raise _refused(fault)
    return declaration


def _faults(declaration: AppDeclaration, table: Table) -> Iterator[str]:
    _once((each.name for each in table.columns), f"table {table.name}", "column")
    _once(table.key, f"the key of {table.name}", "column")
    columns = {each.name: each for each in table.columns}
    for name in columns.keys() & RESERVED:
        if name != "id" or not table.key:
            yield f'{table.name}.{name}: this name is taken by the system; name the column otherwise, or say key = ["id"]'
    for name in table.key:
        if name not in columns:
            yield f"the key of {table.name} names {name}, which is no column of it"
        elif columns[name].type == "json":
            yield f"{table.name}.{name} is JSON, which cannot name a row"
    if table.name_by and table.name_by not in columns:
        yield f"{table.name} is shown by {table.name_by}, which is no column of it"
    for column in table.columns:
        yield from _column_faults(declaration, table, column)


def _column_faults(declaration: AppDeclaration, table: Table, column: Column) -> Iterator[str]:
    where = f"{table.name}.{column.name}"
    if column.type == "json" and (column.unique or column.choices):
        yield f"{where} is JSON, which can be neither unique nor chosen from a list"
    if column.references is None:
        return
    name, _, target = column.references.partition(".")
    other = next((each for each in declaration.tables if each.name == name), None)
    if other is None:
        yield f"{where} refers to {column.references}, and the app has no table {name}"
    elif not _named_by(other, target):
        yield f"{where} refers to {column.references}, which must be unique or the only column of a key"
    elif _type_of(other, target) != column.type:
        yield f"{where} is {column.type} and {column.references} is {_type_of(other, target)}; a reference has the same type"


def _named_by(table: Table, target: str) -> bool:
    return key_columns(table) == (target,) or any(each.name == target and each.unique for each in table.columns)


def _type_of(table: Table, target: str) -> str:
    return next((each.type for each in table.columns if each.name == target), "integer")


def _once(names: Iterable[str], of: str, what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise _refused(f"{of} has the {what} {name} twice")
        seen.add(name)


def _refused(fault: str) -> Refused:
    return Refused(f"The app's declaration cannot be used: {fault}.", code="declaration")
