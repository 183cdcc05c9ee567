"""Statements on behavior and virtual tools. Every one names the owner, though row security would hold it to that anyway."""

import json
from collections.abc import Sequence
from typing import Any

from schemas.outward import Owner
from services.agent.habits.domain import Behavior, Origin, VirtualTool
from shared.db import Tx

_MINE = "owner_kind = $1 AND owner_id = $2"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('behavior ' || $1::text || ' ' || $2::text, 0))"
_CURRENT = """
SELECT v.version, v.text, v.before, v.sources, v.at FROM core.behaviors b
  JOIN core.behavior_versions v ON (v.owner_kind, v.owner_id, v.version) = (b.owner_kind, b.owner_id, b.version)
 WHERE b.owner_kind = $1 AND b.owner_id = $2"""
_VERSION = f"SELECT version, text, before, sources, at FROM core.behavior_versions WHERE {_MINE} AND version = $3"  # noqa: S608
_NEWEST = f"SELECT coalesce(max(version), 0) FROM core.behavior_versions WHERE {_MINE}"  # noqa: S608
_ADD = """
INSERT INTO core.behavior_versions (owner_kind, owner_id, version, before, text, conversation_id, turn_id, sources)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"""
_SET = """
INSERT INTO core.behaviors (owner_kind, owner_id, version) VALUES ($1, $2, $3)
ON CONFLICT (owner_kind, owner_id) DO UPDATE SET version = excluded.version"""
_TOOL = "name, description, prompt, input_hint, enabled, sources, flagged"
_TOOLS = f"SELECT {_TOOL} FROM core.virtual_tools WHERE {_MINE} ORDER BY name"  # noqa: S608
_FIND = f"SELECT {_TOOL} FROM core.virtual_tools WHERE {_MINE} AND name = $3"  # noqa: S608
_MAKE = """
INSERT INTO core.virtual_tools (owner_kind, owner_id, name, description, prompt, input_hint, enabled, conversation_id, turn_id, sources, flagged)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (owner_kind, owner_id, name) DO NOTHING"""
_SWITCH = f"UPDATE core.virtual_tools SET enabled = $4 WHERE {_MINE} AND name = $3"  # noqa: S608
_DELETE = f"DELETE FROM core.virtual_tools WHERE {_MINE} AND name = $3"  # noqa: S608


async def hold(tx: Tx, owner: Owner) -> None:
    """Nobody else changes this owner's behavior or makes tools of theirs until the transaction ends."""
    await tx.raw.execute(_LOCK, owner.kind, owner.id)


async def behavior(tx: Tx, owner: Owner) -> Behavior:
    row = await tx.raw.fetchrow(_CURRENT, owner.kind, owner.id)
    return _behavior(row) if row else Behavior()


async def behavior_version(tx: Tx, owner: Owner, version: int) -> Behavior:
    """Version 0 is the empty one."""
    row = await tx.raw.fetchrow(_VERSION, owner.kind, owner.id, version)
    return _behavior(row) if row else Behavior()


async def newest_version(tx: Tx, owner: Owner) -> int:
    return int(await tx.raw.fetchval(_NEWEST, owner.kind, owner.id))


async def add_behavior(tx: Tx, owner: Owner, made: Behavior, origin: Origin) -> None:
    """Add it and put it in force."""
    await tx.raw.execute(
        _ADD, owner.kind, owner.id, made.version, made.before, made.text, origin.conversation_id, origin.turn_id, _json(made.sources)
    )  # fmt: skip
    await tx.raw.execute(_SET, owner.kind, owner.id, made.version)


async def tools(tx: Tx, owner: Owner) -> list[VirtualTool]:
    return [_tool(row) for row in await tx.raw.fetch(_TOOLS, owner.kind, owner.id)]


async def find_tool(tx: Tx, owner: Owner, name: str) -> VirtualTool | None:
    row = await tx.raw.fetchrow(_FIND, owner.kind, owner.id, name)
    return _tool(row) if row else None


async def make_tool(tx: Tx, owner: Owner, tool: VirtualTool, origin: Origin) -> bool:
    """Whether the name was free."""
    done = await tx.raw.execute(
        _MAKE, owner.kind, owner.id, tool.name, tool.description, tool.prompt, tool.input_hint, tool.enabled,
        origin.conversation_id, origin.turn_id, _json(tool.sources), tool.flagged,
    )  # fmt: skip
    return bool(str(done).endswith(" 1"))


async def switch_tool(tx: Tx, owner: Owner, name: str, *, enabled: bool) -> bool:
    """Whether there is one of that name."""
    return str(await tx.raw.execute(_SWITCH, owner.kind, owner.id, name, enabled)).endswith(" 1")


async def delete_tool(tx: Tx, owner: Owner, name: str) -> bool:
    return str(await tx.raw.execute(_DELETE, owner.kind, owner.id, name)).endswith(" 1")


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _behavior(row: Any) -> Behavior:
    return Behavior(row["version"], row["text"], row["before"], tuple(json.loads(row["sources"])), row["at"])


def _tool(row: Any) -> VirtualTool:
    fields = {name: row[name] for name in ("name", "description", "prompt", "input_hint", "enabled", "flagged")}
    return VirtualTool(**fields, sources=tuple(json.loads(row["sources"])))
