"""Publications that the bridge itself seals, without what the site must see behind them: not rendered, parked (S1, S6)."""

from dataclasses import dataclass

from infra.prove.check import Book
from infra.prove.fetch import get, shut
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
    """What would follow the newest entry, each wrong in one respect. Nothing here could be shown if it were combined otherwise."""
    row: Attempt = {"kind": "rows", "role": "site", "database": DATABASES["site"], "query": _HEAD}
    (outcome,) = await target.run("site", [row])
    seq, head = outcome["value"][0]
    signed, mode = await _statements(target, forger), forger.by_stranger(forger.setting(), forger.key_id)
    entries = {name: _entry(forger, seq, head, *pair) for name, pair in signed.items()} | {
        "mode": _mode(seq, head, mode)
    }
    gate = await _countersigned(target, entries)
    loose = entries["nothing"].model_copy(update={"key_id": forger.stranger.key_id})
    faults = {
        "the content is not what was approved": ("nothing", gate["nothing"]),
        "the verdict is a rejection": ("rejected", gate["rejected"]),
        "the decision was signed for another purpose": ("misused", gate["misused"]),
        "a stranger decided": ("stranger", gate["stranger"]),
        "a stranger decided in the real key's name": ("in name", gate["in name"]),
        "a stranger countersigned": ("nothing", forger.by_stranger(loose)),
        "the gate's entry belongs to another statement": ("nothing", gate["stranger"]),
    }
    found = {
        says: Forged("item.published", _published(forger, signed[name][0], by)) for says, (name, by) in faults.items()
    }
    retracted = ItemRetracted(item_id=forger.item, withdrawal=signed["in name"][0], gate=gate["in name"])
    sealed = GateHead(key_id=forger.stranger.key_id, seq=seq, head=head, at=now())
    return found | {
        "the withdrawal is a decision": Forged("item.retracted", retracted),
        "nobody set that mode": Forged("mode.entered", ModeEntered(setting=mode, gate=gate["mode"])),
        "a stranger signed the head": Forged("head.sealed", HeadSealed(head=forger.by_stranger(sealed))),
    }


async def _statements(target: Target, forger: Forger) -> dict[str, tuple[Signed, Decision]]:
    """With what each says that it decides."""
    approve, reject = forger.decision(), forger.decision(verdict="reject")
    nothing = forger.decision(content_hash=forger.nothing)
    wanted = [("decision", Decision.PURPOSE, each.to_bytes()) for each in (nothing, reject)]
    wanted.append(("decision", SwitchSetting.PURPOSE, approve.to_bytes()))
    approved, rejected, misused = await sign(target, "console", wanted)
    return {
        "nothing": (approved, nothing),
        "rejected": (rejected, approve),
        "misused": (misused, approve),
        "stranger": (forger.by_stranger(approve), approve),
        "in name": (forger.by_stranger(approve, forger.key_id), approve),
    }


async def _countersigned(target: Target, entries: dict[str, GateEntry]) -> dict[str, Signed]:
    """By the gate's real key, whose id it tells."""
    (probe,) = await sign(target, "bridge", [("gate", "schleuse.prove.v1", b"which key")])
    named = [entry.model_copy(update={"key_id": probe.key_id}).to_bytes() for entry in entries.values()]
    signed = await sign(target, "bridge", [("gate", GateEntry.PURPOSE, each) for each in named])
    return dict(zip(entries, signed, strict=True))


def _entry(forger: Forger, seq: int, head: str, statement: Signed, decision: Decision) -> GateEntry:
    return GateEntry(
        key_id="gate", seq=seq + 1, previous=head, entry="publication", item_id=forger.item, statement_hash=statement.hash,
        content_hash=decision.content_hash, at=now(),
    )  # fmt: skip


def _mode(seq: int, head: str, setting: Signed) -> GateEntry:
    return GateEntry(
        key_id="gate", seq=seq + 1, previous=head, entry="site_mode", statement_hash=setting.hash, at=now()
    )


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
    book.same("site", "none of it is rendered", 403 if await shut(target.config.urls["site"]) else 404, page.status)
