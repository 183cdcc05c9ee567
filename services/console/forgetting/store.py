"""Rows of console_db that hold a text. `strpos` finds it as it is: no sign in it means anything."""
# statements are composed of names of ours, quoted
# ruff: noqa: S608

from typing import Any

from services.console.apps.declared import place
from services.console.apps.domain import InstalledApp
from shared.db import Tx

KEPT: dict[str, str] = {
    "trash": "app.job_trash WHERE strpos(data::text, $1) > 0 OR strpos(key, $1) > 0",
    "history": "app.record_history WHERE strpos(coalesce(before::text, '') || coalesce(after::text, '') || row_key, $1) > 0",
    "answers": "app.form_answers WHERE strpos(answers::text, $1) > 0 OR visitor = $1",
    "feedback": "app.feedback WHERE strpos(text, $1) > 0",
    "votes": "app.votes WHERE visitor = $1",
    "reactions": "app.reactions WHERE visitor = $1",
    "interactions": "app.interactions WHERE visitor = $1",
    "imports": "app.import_pieces WHERE position(convert_to($1, 'UTF8') in piece) > 0",
    "notices": "app.notices WHERE strpos(text, $1) > 0",
    "proposals": "app.proposals WHERE state <> 'waiting' AND strpos(body || why, $1) > 0",
}
"""What is cleared. Decisions, the call audit and the usage ledger are kept by the platform (rule 13)."""


async def count(tx: Tx, text: str) -> dict[str, int]:
    return {
        name: int(await tx.raw.fetchval(f"SELECT count(*) FROM {rows}", _as_json(name, text)))
        for name, rows in KEPT.items()
    }


async def clear(tx: Tx, text: str) -> dict[str, int]:
    found = {}
    for name, rows in KEPT.items():
        found[name] = int((await tx.raw.execute(f"DELETE FROM {rows}", _as_json(name, text))).split()[-1])
    return found


async def named_in(tx: Tx, app: InstalledApp, table: str, text: str) -> int:
    """Rows of an app's table that hold it."""
    return int(
        await tx.raw.fetchval(
            f"SELECT count(*) FROM {place(app, table)} _t WHERE strpos(to_jsonb(_t)::text, $1) > 0", _json(text)
        )
    )


async def delete_named(tx: Tx, app: InstalledApp, table: str, text: str) -> int:
    statement = f"DELETE FROM {place(app, table)} _t WHERE strpos(to_jsonb(_t)::text, $1) > 0"
    return int((await tx.raw.execute(statement, _json(text))).split()[-1])


def _as_json(name: str, text: str) -> Any:
    return _json(text) if name in ("trash", "history", "answers") else text


def _json(text: str) -> str:
    """As it stands in JSON of the database."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
