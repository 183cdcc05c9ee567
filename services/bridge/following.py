"""What a backup follows: the gate's log and what was taken back, as signed, with who stands behind it. Reading only."""

import base64
from collections.abc import Sequence
from typing import Any

from asyncpg import Record

from schemas.text import sha256
from services.bridge import store, views
from services.bridge.gate import Gate
from shared.clock import now
from shared.db import Database
from shared.operator import Verb

MOST = 200


class FollowDesk:
    """Verb: gate.after."""

    def __init__(self, db: Database, gate: Gate) -> None:
        self._db, self._gate = db, gate

    @property
    def verbs(self) -> dict[str, Verb]:
        return {"gate.after": self.after}

    async def after(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"seq", "decided"} -> {"entries", "decisions", "head"}: what follows entry `seq` and decision `decided`, at most 200 of each.

        `head` is the newest head, signed now. Decisions are read first: one that has an entry never comes without it.
        """
        async with self._db.reading() as tx:
            taken_back = await views.taken_back_after(tx, int(args["decided"]), MOST)
            entries = await views.entries_after(tx, int(args["seq"]), MOST)
            hashes = {sha256(row["statement"]) for row in (*taken_back, *entries)}
            openings = await views.openings(tx, sorted(hashes))
            head = self._gate.head((await store.rules(tx)).head, now())
        return {
            "entries": [_entry(row, openings) for row in entries],
            "decisions": [_decision(row, openings) for row in taken_back],
            "head": {"payload": _text(head.payload), "signature": _text(head.signature), "key_id": head.key_id},
        }


def _entry(row: Record, openings: dict[str, Any]) -> dict[str, Any]:
    names = ("seq", "kind", "hash", "key_id", "statement_key_id", "revision")
    more = {"item_id": str(row["item_id"]) if row["item_id"] else None, "at": row["at"].isoformat()}
    opening = {"opening": openings.get(sha256(row["statement"]))}
    return {name: row[name] for name in names} | _texts(row, ("entry", "signature", "statement", "statement_signature")) | more | opening  # fmt: skip


def _decision(row: Record, openings: dict[str, Any]) -> dict[str, Any]:
    opening = openings.get(row["statement_hash"])
    found = {
        "position": row["position"],
        "item_id": str(row["item_id"]),
        "at": row["at"].isoformat(),
        "opening": opening,
    }
    return found | {
        "statement": _text(row["statement"]),
        "statement_signature": _text(row["signature"]),
        "statement_key_id": row["key_id"],
    }


def _texts(row: Record, names: Sequence[str]) -> dict[str, str]:
    return {name: _text(row[name]) for name in names}


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
