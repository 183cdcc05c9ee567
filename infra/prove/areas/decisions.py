"""Forged decisions, withdrawals, switches and keys, published with the console's real bus account: the lock refuses or parks each (S1, S5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from infra.prove.check import Book
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from infra.prove.traces import fates
from schemas.console.v1 import ItemDecided, ItemWithdrawn, KeyChanged, SwitchSet
from schemas.model import Data
from schemas.statements import Decision, KeyChange, Opening, Signed, SwitchSetting, Withdrawal
from shared.ids import item_id
from shared.settings import DATABASES

SECONDS = 25.0
SIGNATURE = "bad_signature"


@dataclass(frozen=True)
class Forged:
    """`expected`: the refusal's code, or `parked`, or empty for any refusal."""

    says: str
    name: str
    body: str
    expected: str


async def check_decisions(target: Target, book: Book) -> None:
    forger = Forger.of(target)
    forged = [*await _statements(target, forger), *await _replays(target, forger), *_events(forger)]
    marks = [f"d{number}" for number in range(len(forged))]
    made: list[Attempt] = [
        {"kind": "bus", "as": "console", "op": "ask", "subjects": [f"from.console.{each.name}"], "payload": each.body.replace(":MARK:", f":{mark}:")}
        for mark, each in zip(marks, forged, strict=True)
    ]  # fmt: skip
    await target.run("console", made)
    found = await fates(target, "bridge", marks, SECONDS)
    for mark, each in zip(marks, forged, strict=True):
        fate, reason = found.get(mark, ("no trace", ""))
        book.add("console", f"{each.name}: {each.says}", _expected(each), _got(each, fate, reason), reason)
    await _nothing_changed(target, book, forger)


def _expected(each: Forged) -> str:
    return "parked" if each.expected == "parked" else f"refused {each.expected}".strip()


def _got(each: Forged, fate: str, reason: str) -> str:
    code = reason.partition(":")[0] if each.expected and fate == "refused" else ""
    return f"{fate} {code}".strip()


async def _statements(target: Target, forger: Forger) -> list[Forged]:
    """Signed by whom they must not be, for what they must not be, or altered since."""
    decision = forger.decision(content_hash=forger.nothing)
    payload = decision.to_bytes()
    twice = b'{"audience":"members",' + payload[1:]
    spaced = payload.replace(b'":', b'": ', 1)
    more = b'{"a":"",' + payload[1:]
    other = forger.decision(item=item_id("doc", "en", "prove/other"), content_hash=forger.nothing)
    console = [
        ("decision", Decision.PURPOSE, payload), ("decision", SwitchSetting.PURPOSE, payload), ("decision", Withdrawal.PURPOSE, forger.withdrawal().to_bytes()),
        ("decision", Decision.PURPOSE, twice), ("decision", Decision.PURPOSE, spaced), ("decision", Decision.PURPOSE, more), ("decision", Decision.PURPOSE, other.to_bytes()),
        ("session", Decision.PURPOSE, payload), ("decision", KeyChange.PURPOSE, forger.key_change(vouches_for_itself=True).to_bytes()),
    ]  # fmt: skip
    real, switched, withdrawn, doubled, loose, wide, elsewhere, by_session, by_itself = await sign(
        target, "console", console
    )
    by_gate, by_envelope = await sign(
        target, "bridge", [(duty, Decision.PURPOSE, payload) for duty in ("gate", "envelope")]
    )
    swapped = payload.replace(decision.content_hash.encode(), b"0" * 64)
    public = payload.replace(b'"audience":"public"', b'"audience":"members"')
    signed = {
        "not signed": Signed(payload=payload, signature=b"", key_id=forger.key_id),
        "signed by a stranger": forger.by_stranger(decision),
        "signed by a stranger in the real key's name": forger.by_stranger(decision, forger.key_id),
        "signed for another purpose": switched,
        "a withdrawal's statement": withdrawn,
        "signed by the gate's key": by_gate,
        "signed by the gate's key in the real key's name": by_gate.model_copy(update={"key_id": forger.key_id}),
        "signed by the envelopes' key": by_envelope,
        "signed by the sessions' key": by_session.model_copy(update={"key_id": forger.key_id}),
        "content hash swapped after signing": real.model_copy(update={"payload": swapped}),
        "audience changed after signing": real.model_copy(update={"payload": public}),
        "a key twice in the signed JSON": doubled,
        "signed in another spelling": loose,
        "a field too many in the signed JSON": wide,
    }
    found = [Forged(says, "item.decided", _decided(forger, each), SIGNATURE) for says, each in signed.items()]
    hidden = forger.opening.model_copy(update={"person_name": "somebody else"})
    found += [
        Forged("well signed, about another item than the event", "item.decided", _decided(forger, elsewhere), "invalid"),
        Forged("well signed, another person than signed for", "item.decided", _decided(forger, real, hidden), SIGNATURE),
        Forged("well signed, for an item that there is not", "item.decided", _decided(forger, real), "unknown_item"),
        Forged("well signed, a key vouches for itself", "key.changed", forger.event("key.changed", KeyChanged(statement=by_itself, opening=forger.opening), "MARK"), "invalid"),
    ]  # fmt: skip
    return [*found, *_others(forger, withdrawn, real)]


def _others(forger: Forger, withdrawn: Signed, real: Signed) -> Iterator[Forged]:
    """The same for what else is signed: withdrawals, switches, keys."""
    statements = {
        "item.withdrawn": forger.withdrawal(),
        "switch.set": forger.setting(),
        "key.changed": forger.key_change(),
    }
    foreign = {"item.withdrawn": real, "switch.set": withdrawn, "key.changed": real}
    for name, statement in statements.items():
        for says, signed in {
            "not signed": Signed(payload=statement.to_bytes(), signature=b"", key_id=forger.key_id),
            "signed by a stranger": forger.by_stranger(statement),
            "signed by a stranger in the real key's name": forger.by_stranger(statement, forger.key_id),
            "the real key's signature for another purpose": foreign[name],
        }.items():
            yield Forged(says, name, forger.event(name, _data(name, forger, signed), "MARK"), SIGNATURE)


def _data(name: str, forger: Forger, signed: Signed) -> Data:
    if name == "item.withdrawn":
        return ItemWithdrawn(item_id=forger.item, statement=signed, opening=forger.opening)
    return (
        SwitchSet(statement=signed, opening=forger.opening)
        if name == "switch.set"
        else KeyChanged(statement=signed, opening=forger.opening)
    )


def _decided(forger: Forger, signed: Signed, opening: Opening | None = None, item: Any = None) -> str:
    return forger.event(
        "item.decided",
        ItemDecided(item_id=item or forger.item, statement=signed, opening=opening or forger.opening),
        "MARK",
    )


_NEWEST = """SELECT item_id::text, statement, signature, key_id, person_id, person_name, via, reason, nonce FROM core.decisions
  WHERE verdict = 'approve' ORDER BY position DESC LIMIT 1"""


async def _replays(target: Target, forger: Forger) -> list[Forged]:
    """A decision that was really made, once more and altered. Nothing when none was made yet."""
    row: Attempt = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": _NEWEST}
    (outcome,) = await target.run("bridge", [row])
    if not outcome["value"]:
        return []
    item, payload, signature, key_id, *hidden = outcome["value"][0]
    real = Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id)
    opening = Opening(**dict(zip(("person_id", "person_name", "via", "reason", "nonce"), hidden, strict=True)))
    decision = Decision.from_bytes(real.payload)
    swapped = decision.model_copy(update={"content_hash": forger.nothing, "key_id": forger.key_id}).to_bytes()
    (resigned,) = await sign(target, "console", [("decision", Decision.PURPOSE, swapped)])
    altered = real.model_copy(update={"payload": real.payload.replace(decision.content_hash.encode(), b"0" * 64)})
    return [
        Forged("a real one once more", "item.decided", _decided(forger, real, opening, item), ""),
        Forged("a real one with another content hash", "item.decided", _decided(forger, altered, opening, item), ""),
        Forged(
            "a real one with another content hash, well signed",
            "item.decided",
            _decided(forger, resigned, opening, item),
            "",
        ),
        Forged("a real one in another's name", "item.decided", _decided(forger, real, forger.opening, item), ""),
    ]


def _events(forger: Forger) -> list[Forged]:
    """Envelopes that are not what they say."""
    body = _decided(forger, forger.by_stranger(forger.decision()))
    return [
        Forged(
            "an event that says it is the agent's",
            "item.decided",
            body.replace('"source":"/console"', '"source":"/agent"'),
            "parked",
        ),
        Forged(
            "another event's type on this subject",
            "item.decided",
            body.replace("io.schleuse.item.decided", "io.schleuse.item.submitted"),
            "parked",
        ),
        Forged("an unknown version", "item.decided", body.replace("/item.decided/v1", "/item.decided/v99"), "parked"),
        Forged("a field too many", "item.decided", body.replace('"data":{', '"data":{"verdict":"approve",'), "parked"),
        Forged(
            "a key twice in the envelope",
            "item.decided",
            body.replace('{"specversion":"1.0"', '{"specversion":"1.0","specversion":"1.0"', 1),
            "parked",
        ),
        Forged("no JSON", "item.decided", f"prove:{forger.token}:MARK: {{", "parked"),
        Forged(
            "an event that there is not",
            "item.decided",
            body.replace("io.schleuse.item.decided", "io.schleuse.item.opened"),
            "parked",
        ),
    ]


_LEFT = """SELECT 'a decision' FROM core.decisions WHERE item_id = $1::uuid UNION ALL SELECT 'a gate entry' FROM core.gate_log WHERE item_id = $1::uuid
  UNION ALL SELECT 'a switch' FROM core.switch_settings WHERE nonce = $2 UNION ALL SELECT 'a key' FROM core.decision_keys WHERE nonce = $2
  UNION ALL SELECT 'an item' FROM app.items WHERE item_id = $1::uuid UNION ALL SELECT 'a decision' FROM core.decisions WHERE nonce = $2"""


async def _nothing_changed(target: Target, book: Book, forger: Forger) -> None:
    row: Attempt = {
        "kind": "rows",
        "role": "bridge",
        "database": DATABASES["bridge"],
        "query": _LEFT,
        "args": [str(forger.item), forger.token],
    }
    (outcome,) = await target.run("bridge", [row])
    book.holds(
        "bridge",
        "none of it is recorded as a decision, gate entry, switch, key or item",
        ", ".join(each[0] for each in outcome["value"]),
    )
