"""Row security by owner (architecture 4): every owner-scoped table, forced upon its owner role, too.

The owner is what the transaction said it acts for (shared.db: `Database.owned`); a transaction that said nothing sees no row. There is
one policy, for all statements and for PUBLIC, so that no role is left out; a second one would only open more, and is removed.
"""

import asyncpg

from infra.postgres.cluster import Unsound

POLICY = "owner_only"
MINE = (
    "((owner_kind = current_setting('app.owner_kind'::text, true)) AND (owner_id = current_setting('app.owner_id'::text, true))"
    " AND (owner_id <> ''::text))"
)
"""As Postgres writes it back. The setting of a transaction that is over reads as an empty text, so nobody has an empty id."""
_STATE = "SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = to_regclass($1)"
_POLICIES = "SELECT policyname, permissive, roles::text[], cmd, qual, with_check FROM pg_policies WHERE schemaname = 'core' AND tablename = $1"
_AS_DECLARED = (POLICY, "PERMISSIVE", ["public"], "ALL", MINE, MINE)


async def divide_by_owner(database: asyncpg.Connection, table: str, *, owned: bool) -> None:
    """Put right what was changed; a table that is not declared as owned loses nothing but foreign policies."""
    if await fault(database, table, owned=owned) is None:
        return
    for row in await database.fetch(_POLICIES, table):
        await database.execute(f'DROP POLICY "{row[0]}" ON core.{table}')
    for statement in divided(f"core.{table}") if owned else _undivided(f"core.{table}"):
        await database.execute(statement)


def divided(table: str) -> tuple[str, ...]:
    """Statements that divide a table by owner."""
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY {POLICY} ON {table} USING ({MINE}) WITH CHECK ({MINE})",
    )


def _undivided(table: str) -> tuple[str, ...]:
    return (f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY", f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")


async def check_owned(database: asyncpg.Connection, table: str, *, owned: bool) -> None:
    """Unsound when row security is not as declared."""
    found = await fault(database, table, owned=owned)
    if found:
        raise Unsound(f"core.{table} {found}")


async def fault(database: asyncpg.Connection, table: str, *, owned: bool) -> str | None:
    """What is not as declared, in words."""
    forced = await database.fetchval(_STATE, f"core.{table}")
    policies = [tuple(row) for row in await database.fetch(_POLICIES, table)]
    if not owned:
        return "has row security that nobody declared" if forced or policies else None
    if not forced:
        return "is not divided by owner: row security is off, or not forced upon its owner"
    return None if policies == [_AS_DECLARED] else "has other policies than the one that divides it by owner"
