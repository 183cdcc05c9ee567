"""Recompute the gate's log from its bytes, and name the first entry that is not right."""

from typing import Any

from asyncpg import Record
from pydantic import ValidationError

from schemas.statements import (
    Decision,
    GateEntry,
    KeyChange,
    LinkChange,
    Signed,
    Statement,
    SwitchSetting,
    taken_back_by,
)
from schemas.text import BadJson, sha256
from services.bridge import views
from services.bridge.gate import Head
from shared.db import Database
from shared.errors import BadSignature
from shared.signing import PublicKeys

_STATEMENTS: dict[str, type[Statement]] = {
    "publication": Decision,
    "site_mode": SwitchSetting,
    "key": KeyChange,
    "link": LinkChange,
}
_PAGE = 200


async def verify_gate(db: Database, keys: PublicKeys) -> dict[str, Any]:
    """{"ok", "entries", "head": {"seq", "hash"}, "first_bad": None | {"seq", "reason"}}."""
    head = Head()
    while True:
        async with db.reading() as tx:
            page = await views.entries_after(tx, head.seq, _PAGE)
        for row in page:
            fault = fault_of(row, head, keys)
            if fault:
                return _report(head, {"seq": row["seq"], "reason": fault})
            head = Head(row["seq"], sha256(row["entry"]))
        if len(page) < _PAGE:
            return _report(head, None)


def _report(head: Head, bad: dict[str, Any] | None) -> dict[str, Any]:
    return {"ok": bad is None, "entries": head.seq + 1, "head": {"seq": head.seq, "hash": head.hash}, "first_bad": bad}


def fault_of(row: Record, head: Head, keys: PublicKeys) -> str | None:
    """Why this row is not the entry after `head`, or None. Everything is read from the signed bytes."""
    signed = Signed(payload=row["statement"], signature=row["statement_signature"], key_id=row["statement_key_id"])
    try:
        entry = keys.verify(
            "gate", Signed(payload=row["entry"], signature=row["signature"], key_id=row["key_id"]), GateEntry
        )
        if (entry.seq, entry.previous) != (head.seq + 1, head.hash):
            return f"it does not continue entry {head.seq}"
        if (entry.seq, entry.entry, entry.item_id) != (row["seq"], row["kind"], row["item_id"]):
            return "its columns do not say what its signed bytes say"
        if entry.statement_hash != signed.hash:
            return "the statement is not the one that the entry commits to"
        kind = taken_back_by(signed.payload) if entry.entry == "withdrawal" else _STATEMENTS[entry.entry]
        keys.verify("decision", signed, kind)
    except (BadSignature, BadJson, ValidationError) as error:
        return str(error)
    if entry.entry == "publication" and (row["content"] is None or sha256(row["content"]) != entry.content_hash):
        return "the content is not the one that the entry commits to"
    return None
