"""Publications that the bridge itself seals, without what the site must see behind them: not rendered, parked (S1, S6)."""

from dataclasses import dataclass

from infra.prove.check import Book
from infra.prove.fetch import get
from infra.prove.forge import Forger, probe_path, sign
from infra.prove.target import Attempt, Target
from infra.prove.traces import fates
from schemas.bridge.v1 import HeadSealed, ItemPublished, ItemRetracted, ModeEntered
from schemas.model import Data
from schemas.statements import Decision, GateEntry, GateHead, Signed, SwitchSetting
from shared.clock import now
from shared.settings import DATABASES

SECONDS = 20.0
TRIES = 3
"""A real publication in the same moment takes the place in the log; the forgery then looks like an old entry and is ignored."""
_HEAD = "SELECT seq, hash FROM app.site_state WHERE id = 1"


@dataclass(frozen=True)
class Forged:
    says: str
    name: str
    data: Data


async def check_publications(target: Target, book: Book) -> None:
    forger = Forger.of(target)
    found: dict[str, tuple[str, str]] = {}
    for attempt in range(TRIES):
        forged = await _forge(target, forger)
        left = {says: each for says, each in forged.items() if says not in found}
        marks = {says: f"p{attempt}{number}" for number, says in enumerate(left)}
        await _send(target, forger, left, marks)
        fate = await fates(target, "site", list(marks.values()), SECONDS)
        found |= {says: fate[mark] for says, mark in marks.items() if mark in fate}
        if len(found) == len(forged):
            break
    for says, each in forged.items():
        what, reason = found.get(says, ("no trace", ""))
        book.add("bridge", f"to.site.{each.name}: sealed, but {says}", "parked", what, reason)
    await _not_rendered(target, book, forger)


async def _forge(target: Target, forger: Forger) -> dict[str, Forged]:
    row: Attempt = {"kind": "rows", "role": "site", "database": DATABASES["site"], "query": _HEAD}
    (outcome,) = await target.run("site", [row])
    seq, head = outcome["value"][0]
    approve, reject, setting = forger.decision(), forger.decision(verdict="reject"), forger.setting()
    empty = forger.decision(content_hash=forger.nothing)
    wanted = [("decision", Decision.PURPOSE, each.to_bytes()) for each in (empty, reject)]
    wanted += [("decision", SwitchSetting.PURPOSE, approve.to_bytes())]
    approved, rejected, misused = await sign(target, "console", wanted)
    by_stranger, in_name = forger.by_stranger(approve), forger.by_stranger(approve, forger.key_id)
    unsigned_mode = forger.by_stranger(setting, forger.key_id)
    statements = [
        (approved, empty),
        (rejected, approve),
        (misused, approve),
        (by_stranger, approve),
        (in_name, approve),
    ]
    entries = [_entry(forger, seq, head, each, decision) for each, decision in statements]
    entries.append(_mode(seq, head, unsigned_mode))
    gate_id = await _gate_key(target)
    payloads = [each.model_copy(update={"key_id": gate_id}).to_bytes() for each in entries]
    gate = await sign(target, "bridge", [("gate", GateEntry.PURPOSE, each) for each in payloads])
    loose = entries[0].model_copy(update={"key_id": forger.stranger.key_id})
    stranger_head = GateHead(key_id=forger.stranger.key_id, seq=seq, head=head, at=now())
    made = {
        "the content is not what was approved": _published(forger, approved, gate[0]),
        "the verdict is a rejection": _published(forger, rejected, gate[1]),
        "the decision was signed for another purpose": _published(forger, misused, gate[2]),
        "a stranger decided": _published(forger, by_stranger, gate[3]),
        "a stranger decided in the real key's name": _published(forger, in_name, gate[4]),
        "a stranger countersigned": _published(forger, approved, forger.by_stranger(loose)),
        "the gate's entry belongs to another statement": _published(forger, approved, gate[3]),
    }
    found = {says: Forged(says, "item.published", data) for says, data in made.items()}
    retracted = ItemRetracted(item_id=forger.item, withdrawal=in_name, gate=gate[4])
    found["the withdrawal is a decision"] = Forged("", "item.retracted", retracted)
    found["nobody set that mode"] = Forged("", "mode.entered", ModeEntered(setting=unsigned_mode, gate=gate[5]))
    found["a stranger signed the head"] = Forged("", "head.sealed", HeadSealed(head=forger.by_stranger(stranger_head)))
    return found


def _entry(forger: Forger, seq: int, head: str, statement: Signed, decision: Decision) -> GateEntry:
    return GateEntry(
        key_id="gate", seq=seq + 1, previous=head, entry="publication", item_id=forger.item, statement_hash=statement.hash,
        content_hash=decision.content_hash, at=now(),
    )  # fmt: skip


def _mode(seq: int, head: str, setting: Signed) -> GateEntry:
    return GateEntry(
        key_id="gate", seq=seq + 1, previous=head, entry="site_mode", statement_hash=setting.hash, at=now()
    )


async def _gate_key(target: Target) -> str:
    (probe,) = await sign(target, "bridge", [("gate", "schleuse.prove.v1", b"which key")])
    return probe.key_id


def _published(forger: Forger, decision: Signed, gate: Signed) -> ItemPublished:
    return ItemPublished(item_id=forger.item, decision=decision, gate=gate, content=forger.content)


async def _send(target: Target, forger: Forger, forged: dict[str, Forged], marks: dict[str, str]) -> None:
    bodies = {says: forger.event(each.name, each.data, marks[says]) for says, each in forged.items()}
    seals: list[Attempt] = [
        {"kind": "keys", "as": "bridge", "op": "seal", "subject": f"to.site.{each.name}", "body": bodies[says]}
        for says, each in forged.items()
    ]
    sealed = [outcome["value"] for outcome in await target.run("bridge", seals)]
    made: list[Attempt] = [
        {"kind": "bus", "as": "bridge", "op": "ask", "subjects": [f"to.site.{each.name}"], "payload": bodies[says], "headers": {"Schleuse-Seal": seal}}
        for (says, each), seal in zip(forged.items(), sealed, strict=True)
    ]  # fmt: skip
    await target.run("bridge", made)


_ROWS = "SELECT 'a row' FROM app.entries WHERE item_id = $1::uuid UNION ALL SELECT 'gate entry ' || seq || ' ' || kind || ' ' || hash || ' at ' || applied_at FROM app.gate_entries WHERE item_id = $1::uuid"


async def _not_rendered(target: Target, book: Book, forger: Forger) -> None:
    row: Attempt = {
        "kind": "rows",
        "role": "site",
        "database": DATABASES["site"],
        "query": _ROWS,
        "args": [str(forger.item)],
    }
    (outcome,) = await target.run("site", [row])
    book.holds("site", "none of it is stored", ", ".join(each[0] for each in outcome["value"]))
    page = await get(target.config.urls["site"], f"/doc/en/{probe_path(forger.token)}")
    book.same("site", "none of it is rendered", 404, page.status)
