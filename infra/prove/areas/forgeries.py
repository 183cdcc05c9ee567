"""What is forged for area statements: decisions, withdrawals, switches and keys, each wrong in one respect (S1, S5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from schemas.console.v1 import ItemDecided, ItemWithdrawn, KeyChanged, SwitchSet
from schemas.model import Data
from schemas.statements import Decision, KeyChange, Opening, Signed, SwitchSetting, Withdrawal
from shared.ids import item_id
from shared.settings import DATABASES

MARK = "MARK"
"""Stands in a forged event where the mark comes that tells it apart."""
SIGNATURE = "bad_signature"


@dataclass(frozen=True)
class Forged:
    """`expected`: the refusal's code, or `parked`, or empty for any refusal."""

    says: str
    body: str
    expected: str
    name: str = "item.decided"


async def forged_decisions(target: Target, forger: Forger) -> list[Forged]:
    """Decisions that nobody made, signed by whom they must not be, for what they must not be, or altered since."""
    decision = forger.decision(content_hash=forger.nothing)
    signed = await _signatures(target, forger, decision.to_bytes())
    forgeries = _in_wrong_names(forger, decision, signed) | _altered(decision, signed)
    found = [Forged(says, decided(forger, each), SIGNATURE) for says, each in forgeries.items()]
    hidden = forger.opening.model_copy(update={"person_name": "somebody else"})
    itself = forger.event("key.changed", KeyChanged(statement=signed["itself"], opening=forger.opening), MARK)
    return [
        *found,
        Forged("well signed, about another item than the event", decided(forger, signed["elsewhere"]), "invalid"),
        Forged("well signed, another person than signed for", decided(forger, signed["real"], hidden), SIGNATURE),
        Forged("well signed, for an item that there is not", decided(forger, signed["real"]), "unknown_item"),
        Forged("well signed, a key vouches for itself", itself, "invalid", "key.changed"),
        *_other_statements(forger, signed["withdrawal"], signed["real"]),
    ]


async def _signatures(target: Target, forger: Forger, payload: bytes) -> dict[str, Signed]:
    """By the real keys, of what they would never sign."""
    elsewhere = forger.decision(item=item_id("doc", "en", "prove/other"), content_hash=forger.nothing)
    console = {
        "real": ("decision", Decision.PURPOSE, payload),
        "another purpose": ("decision", SwitchSetting.PURPOSE, payload),
        "withdrawal": ("decision", Withdrawal.PURPOSE, forger.withdrawal().to_bytes()),
        "twice": ("decision", Decision.PURPOSE, b'{"audience":"members",' + payload[1:]),
        "spaced": ("decision", Decision.PURPOSE, payload.replace(b'":', b'": ', 1)),
        "more": ("decision", Decision.PURPOSE, b'{"a":"",' + payload[1:]),
        "elsewhere": ("decision", Decision.PURPOSE, elsewhere.to_bytes()),
        "session": ("session", Decision.PURPOSE, payload),
        "itself": ("decision", KeyChange.PURPOSE, forger.key_change(vouches_for_itself=True).to_bytes()),
    }
    bridge = {duty: (duty, Decision.PURPOSE, payload) for duty in ("gate", "envelope")}
    by_console = await sign(target, "console", list(console.values()))
    by_bridge = await sign(target, "bridge", list(bridge.values()))
    return dict(zip((*console, *bridge), (*by_console, *by_bridge), strict=True))


def _in_wrong_names(forger: Forger, decision: Decision, signed: dict[str, Signed]) -> dict[str, Signed]:
    real_name = {"key_id": forger.key_id}
    return {
        "not signed": signed["real"].model_copy(update={"signature": b""}),
        "signed by a stranger": forger.by_stranger(decision),
        "signed by a stranger in the real key's name": forger.by_stranger(decision, forger.key_id),
        "signed by the gate's key": signed["gate"],
        "signed by the gate's key in the real key's name": signed["gate"].model_copy(update=real_name),
        "signed by the envelopes' key": signed["envelope"],
        "signed by the sessions' key": signed["session"].model_copy(update=real_name),
    }


def _altered(decision: Decision, signed: dict[str, Signed]) -> dict[str, Signed]:
    real, payload = signed["real"], signed["real"].payload
    swapped = payload.replace(decision.content_hash.encode(), b"0" * 64)
    members = payload.replace(b'"audience":"public"', b'"audience":"members"')
    return {
        "signed for another purpose": signed["another purpose"],
        "a withdrawal's statement": signed["withdrawal"],
        "content hash swapped after signing": real.model_copy(update={"payload": swapped}),
        "audience changed after signing": real.model_copy(update={"payload": members}),
        "a key twice in the signed JSON": signed["twice"],
        "signed in another spelling": signed["spaced"],
        "a field too many in the signed JSON": signed["more"],
    }


def _other_statements(forger: Forger, withdrawal: Signed, decision: Signed) -> Iterator[Forged]:
    """The same for what else is signed: withdrawals, switches, keys."""
    genuine = {
        "item.withdrawn": forger.withdrawal(),
        "switch.set": forger.setting(),
        "key.changed": forger.key_change(),
    }
    foreign = {"item.withdrawn": decision, "switch.set": withdrawal, "key.changed": decision}
    for name, statement in genuine.items():
        for says, signed in {
            "not signed": Signed(payload=statement.to_bytes(), signature=b"", key_id=forger.key_id),
            "signed by a stranger": forger.by_stranger(statement),
            "signed by a stranger in the real key's name": forger.by_stranger(statement, forger.key_id),
            "the real key's signature for another purpose": foreign[name],
        }.items():
            yield Forged(says, forger.event(name, _data(name, forger, signed), MARK), SIGNATURE, name)


def _data(name: str, forger: Forger, signed: Signed) -> Data:
    match name:
        case "item.withdrawn":
            return ItemWithdrawn(item_id=forger.item, statement=signed, opening=forger.opening)
        case "switch.set":
            return SwitchSet(statement=signed, opening=forger.opening)
        case _:
            return KeyChanged(statement=signed, opening=forger.opening)


def decided(forger: Forger, signed: Signed, opening: Opening | None = None, item: UUID | None = None) -> str:
    data = ItemDecided(item_id=item or forger.item, statement=signed, opening=opening or forger.opening)
    return forger.event("item.decided", data, MARK)


_NEWEST = """SELECT item_id::text, statement, signature, key_id, person_id, person_name, via, reason, nonce FROM core.decisions
  WHERE verdict = 'approve' ORDER BY position DESC LIMIT 1"""
_HIDDEN = ("person_id", "person_name", "via", "reason", "nonce")


async def replayed_decisions(target: Target, forger: Forger) -> list[Forged]:
    """A decision that was really made, once more and altered. Nothing when none was made yet."""
    row: Attempt = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": _NEWEST}
    (outcome,) = await target.run("bridge", [row])
    if not outcome["value"]:
        return []
    about, payload, signature, key_id, *hidden = outcome["value"][0]
    real = Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id)
    opening, item = Opening(**dict(zip(_HIDDEN, hidden, strict=True))), UUID(about)
    decision = Decision.from_bytes(real.payload)
    swapped = decision.model_copy(update={"content_hash": forger.nothing, "key_id": forger.key_id}).to_bytes()
    (resigned,) = await sign(target, "console", [("decision", Decision.PURPOSE, swapped)])
    altered = real.model_copy(update={"payload": real.payload.replace(decision.content_hash.encode(), b"0" * 64)})
    return [
        Forged("a real one once more", decided(forger, real, opening, item), ""),
        Forged("a real one with another content hash", decided(forger, altered, opening, item), ""),
        Forged("a real one with another content hash, well signed", decided(forger, resigned, opening, item), ""),
        Forged("a real one in another's name", decided(forger, real, forger.opening, item), ""),
    ]


def forged_envelopes(forger: Forger) -> list[Forged]:
    """Events that are not what they say: they can never be read, and are parked."""
    body = decided(forger, forger.by_stranger(forger.decision()))
    changes = {
        "an event that says it is the agent's": ('"source":"/console"', '"source":"/agent"'),
        "another event's type on this subject": ("io.schleuse.item.decided", "io.schleuse.item.submitted"),
        "an event that there is not": ("io.schleuse.item.decided", "io.schleuse.item.opened"),
        "an unknown version": ("/item.decided/v1", "/item.decided/v99"),
        "a field too many": ('"data":{', '"data":{"verdict":"approve",'),
        "a key twice in the envelope": ('{"specversion":"1.0"', '{"specversion":"1.0","specversion":"1.0"'),
    }
    found = [Forged(says, body.replace(old, new, 1), "parked") for says, (old, new) in changes.items()]
    return [*found, Forged("no JSON", f"prove:{forger.token}:{MARK}: {{", "parked")]
