"""Apps in console_db: packages, approvals, and the tables that apps declare."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from asyncpg import (
    DataError,
    DuplicateObjectError,
    ForeignKeyViolationError,
    NotNullViolationError,
    ProgramLimitExceededError,
    SyntaxOrAccessError,
    UniqueViolationError,
)
from sqlalchemy import MetaData

from schemas.text import canonical
from schemas.work import AppDeclaration, Table
from services.console.apps.declared import built_into, quoted, short_name
from services.console.apps.domain import InstalledApp, schema_of
from shared.db import Tx, add_missing, log_changes
from shared.errors import Permanent, Refused

ROLES = tuple(f"app_{number:02}" for number in range(1, 17))
"""Made when the cluster is provisioned (infra/postgres/app_roles.py): as many apps can have code."""
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('schleuse app ' || $1))"
_PUT = """INSERT INTO app.apps AS old (slug, declaration, state, reason, version, folder_hash, role, by_name, installed_at)
  VALUES ($1, $2, 'installed', '', 1, $3, $4, $5, $6)
  ON CONFLICT (slug) DO UPDATE SET (declaration, state, reason, version, folder_hash, role, by_name, installed_at) =
    (excluded.declaration, 'installed', '', old.version + 1, excluded.folder_hash, excluded.role, excluded.by_name, excluded.installed_at)"""
_STATE = "UPDATE app.apps SET state = $2, reason = $3 WHERE slug = $1"
_BROKEN = "UPDATE app.apps SET state = 'broken', reason = $3 WHERE slug = $1 AND version = $2 AND state = 'installed'"
_DECLARED = "UPDATE app.apps SET declaration = $2 WHERE slug = $1"
_DESCRIBED = "UPDATE app.apps SET described_version = $2, page_paths = $3 WHERE slug = $1"
_UNDESCRIBED = "SELECT slug FROM app.apps WHERE role IS NOT NULL AND state = 'installed' AND described_version <> version ORDER BY slug"
_SHARED = (
    "UPDATE app.apps SET shared = $2, stated_version = stated_version + 1 WHERE slug = $1 RETURNING stated_version"
)
_TAKEN = "SELECT role FROM app.apps WHERE role IS NOT NULL"
_FILLED = """SELECT a.attname FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
  AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''"""
_LINKED = "SELECT conname FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'f'"
_KEYED = """SELECT array_agg(a.attname::text ORDER BY a.attname) FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
  WHERE c.conrelid = to_regclass($1) AND c.contype = 'p'"""
_DECIDED = """INSERT INTO app.app_decisions (statement_hash, slug, folder_hash, verdict, payload, signature, key_id, opening, by_id, by_name, by_via,
    reason, at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"""


def limited(sql: str, widest: int, most: int) -> str:
    """An app's own question, of whose answer so many rows come, each as JSON; None for one that is wider."""
    return f"""SELECT CASE WHEN length(t) <= {widest} THEN t END FROM (SELECT to_json(q)::text AS t FROM (
{sql}
) q LIMIT {most}) s"""  # noqa: S608 - it is the app's own, asked by a role that reaches the app's own schema


async def hold(tx: Tx, slug: str) -> None:
    """Whoever changes an app has it to themselves until the end of the transaction."""
    await tx.raw.execute(_LOCK, slug)


async def free_role(tx: Tx, slug: str, app: InstalledApp | None) -> str:
    """The app's role, or one that no other app has. Refused when all are given."""
    if app is not None and app.role:
        return app.role
    await hold(tx, "roles")
    taken = {row["role"] for row in await tx.raw.fetch(_TAKEN)}
    found = next((each for each in ROLES if each not in taken), None)
    if found is None:
        raise Refused(
            f"{slug} has code, and {len(ROLES)} apps with code are installed already; that is the most.", code="apps"
        )
    return found


async def put_app(tx: Tx, declaration: AppDeclaration, folder_hash: str, role: str, by_name: str, at: datetime) -> None:
    raw = canonical(declaration.model_dump(mode="json"))
    await tx.raw.execute(_PUT, declaration.slug, raw, folder_hash, role or None, by_name, at)


async def put_state(tx: Tx, slug: str, state: str, reason: str = "") -> None:
    await tx.raw.execute(_STATE, slug, state, reason)


async def put_broken(tx: Tx, slug: str, version: int, reason: str) -> None:
    """Only what is still the version that was found so; a person puts it back."""
    await tx.raw.execute(_BROKEN, slug, version, reason[:2000])


async def put_declared(tx: Tx, slug: str, declaration: AppDeclaration) -> None:
    """What its code declares, as the installation's own word; the app is the same version."""
    await tx.raw.execute(_DECLARED, slug, canonical(declaration.model_dump(mode="json")))


async def put_described(tx: Tx, slug: str, version: int, pages: Sequence[str]) -> None:
    await tx.raw.execute(_DESCRIBED, slug, version, "\n".join(pages))


async def undescribed(tx: Tx) -> list[str]:
    """Slugs of apps whose code has not yet said what it declares."""
    return [row["slug"] for row in await tx.raw.fetch(_UNDESCRIBED)]


async def put_shared(tx: Tx, slug: str, *, shared: bool) -> int:
    """How often the agent was told of this app, with this time."""
    return int(await tx.raw.fetchval(_SHARED, slug, shared))


async def add_decision(tx: Tx, row: Mapping[str, Any]) -> None:
    await tx.raw.execute(_DECIDED, *row.values())


async def make_tables(tx: Tx, declaration: AppDeclaration, role: str) -> list[str]:
    """Schema, tables, columns, indexes and references that are missing; the statements, each kept in schema_changes.

    Nothing is dropped or rewritten. Refused, in words, for what is not additive or what the rows that are there forbid.
    """
    schema = schema_of(declaration.slug)
    await tx.raw.execute("SELECT core.open_app_schema($1, $2)", declaration.slug, role)
    metadata = MetaData(schema=schema)
    for table in declaration.tables:
        built_into(metadata, table)
    try:
        for table in declaration.tables:
            await _check_key(tx, schema, table)
        done = await add_missing(tx, metadata)
        for table in declaration.tables:
            done += await _loosen(tx, schema, table)
            done += await _refer(tx, schema, table)
        await _let_read(tx, schema, declaration.tables, role)
    except Permanent as error:
        raise Refused(f"The app's tables cannot be made so: {error.message}.", code="declaration") from None
    except (UniqueViolationError, ForeignKeyViolationError, NotNullViolationError) as error:
        raise Refused(f"The rows that are there do not fit what the app declares now: {error}.", code="rows") from None
    except (SyntaxOrAccessError, DataError, ProgramLimitExceededError, DuplicateObjectError) as error:
        raise Refused(f"The app's tables cannot be made so: {error}.", code="declaration") from None
    return done


async def _check_key(tx: Tx, schema: str, table: Table) -> None:
    have = await tx.raw.fetchval(_KEYED, _place(schema, table))
    if have is not None and sorted(have) != sorted(table.key or ("id",)):
        raise Refused(
            f"The key of {table.name} is {', '.join(have)}; another one needs another table.", code="declaration"
        )


async def _loosen(tx: Tx, schema: str, table: Table) -> list[str]:
    """A column that the declaration names no more keeps its values, and asks for none."""
    known = {each.name for each in table.columns} | {"id"}
    left = [row["attname"] for row in await tx.raw.fetch(_FILLED, _place(schema, table)) if row["attname"] not in known]
    return await _run(
        tx, [f"ALTER TABLE {_place(schema, table)} ALTER COLUMN {quoted(name)} DROP NOT NULL" for name in left]
    )


async def _refer(tx: Tx, schema: str, table: Table) -> list[str]:
    have = {row["conname"] for row in await tx.raw.fetch(_LINKED, _place(schema, table))}
    statements = []
    for column in table.columns:
        name = short_name(table.name, column.name, "refers")
        if column.references is None or name in have:
            continue
        other, _, target = column.references.partition(".")
        statements.append(
            f"ALTER TABLE {_place(schema, table)} ADD CONSTRAINT {quoted(name)} FOREIGN KEY ({quoted(column.name)})"
            f" REFERENCES {quoted(schema)}.{quoted(other)} ({quoted(target)}) DEFERRABLE"
        )
    return await _run(tx, statements)


async def _let_read(tx: Tx, schema: str, tables: Sequence[Table], role: str) -> None:
    """The app's code reads its own tables; what it writes goes through the console (history, types, leak guard)."""
    for table in tables if role else ():
        await tx.raw.execute(f"GRANT SELECT ON {_place(schema, table)} TO {quoted(role)}")


async def _run(tx: Tx, statements: list[str]) -> list[str]:
    for statement in statements:
        await tx.raw.execute(statement)
    await log_changes(tx, statements)
    return statements


def _place(schema: str, table: Table) -> str:
    return f"{quoted(schema)}.{quoted(table.name)}"
