"""Which table a job is about, as it is now."""

from services.console.apps.views import find_app
from services.console.jobs.domain import PLATFORM
from services.console.jobs.rows import store as rows
from services.console.jobs.rows.domain import Target
from services.console.jobs.rows.targets import find_target as find
from shared.db import Tx
from shared.errors import Refused

HARMLESS = ("a", "r")
"""What a foreign key may do when a row goes: nothing but to forbid it."""


async def find_target(tx: Tx, slug: str, table: str) -> Target:
    """NotFound, or Refused for a protected table (rule 13)."""
    return find(None if slug == PLATFORM else await find_app(tx, slug), slug, table)


async def check_held(tx: Tx, target: Target) -> str:
    """SQL for rows that others refer to: they stay. Refused when deleting a row would delete or change rows of another table (S15)."""
    refers = await rows.references(tx, target)
    for each in refers:
        if each["on_delete"] not in HARMLESS:
            raise Refused(
                f"Deleting rows of {target.table} would reach into {each['schema']}.{each['table']}, which a foreign key ties to it;"
                " a cleanup job deletes nothing but what its dry run shows. Nothing was deleted.",
                code="cascade",
            )
    return rows.held_by(refers)
