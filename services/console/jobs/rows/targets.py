"""Which tables jobs may clean up: those of installed apps, and of the platform's own the few where nothing is kept for good. All others are protected (rule 13)."""

from collections.abc import Mapping

from schemas.work import ColumnType
from services.console.apps.declared import place
from services.console.apps.domain import InstalledApp, key_columns
from services.console.jobs.domain import PLATFORM
from services.console.jobs.rows.domain import Target, name_of
from shared.errors import NotFound, Refused

PROTECTED = ("calls", "audit_checkpoints", "audit_chain", "crossings", "ledger", "usage_ledger", "spend", "turns", "decisions", "item_history", "connector_audit", "call_audit", "audit")  # fmt: skip
"""Names that people give to what the platform keeps for good; no job is ever about them."""
KEPT_FOR_GOOD = "The platform keeps the call audit, crossings, usage ledger and turns itself; no cleanup job can be about them (rule 13)."


def _platform(
    table: str, columns: Mapping[str, ColumnType], key: tuple[str, ...], guard: str = "", said: str = ""
) -> Target:  # fmt: skip
    return Target(PLATFORM, table, f'"app"."{table}"', columns, key, guard, said)


OWN: dict[str, Target] = {
    each.table: each
    for each in (
        _platform(
            "notices",
            {"at": "instant", "read_at": "instant", "kind": "text", "person_id": "text"},
            ("id",),
            f"{name_of('read_at')} IS NOT NULL",
            "only notices that were read",
        ),
        _platform(
            "sign_in_failures",
            {"failed_at": "instant", "failures": "integer"},
            ("subject",),
            f"{name_of('failed_at')} < now() - interval '1 day'",
            "only those of more than a day ago, which slow nobody down any more",
        ),
        _platform("feedback", {"at": "instant", "path": "text", "item_key": "text"}, ("signal_id",)),
    )
}
"""The console's own tables where it is allowed."""


def find_target(app: InstalledApp | None, slug: str, table: str) -> Target:
    """Refused for protected tables, NotFound for those that there are not; both name what can be cleaned up."""
    if slug == PLATFORM:
        return _own(table)
    if app is None:
        raise NotFound(f"There is no app {slug}; `schleuse apps list` shows those that are installed.", code="app")
    found = app.table(table)
    if found is None:
        tables = ", ".join(each.name for each in app.declaration.tables)
        raise NotFound(f"The app {slug} has no table {table}; it has {tables or 'none'}.", code="table")
    columns: dict[str, ColumnType] = {each.name: each.type for each in found.columns}
    return Target(slug, table, place(app, table), columns, key_columns(found))


def _own(table: str) -> Target:
    if table in OWN:
        return OWN[table]
    allowed = ", ".join(sorted(OWN))
    if table in PROTECTED:
        raise Refused(f"{KEPT_FOR_GOOD} Of the platform's tables jobs may clean up {allowed}.", code="protected")
    raise Refused(
        f"No job may clean up {table} of the platform (rule 13); where it is allowed are {allowed}.", code="protected"
    )
