"""Area owners: what the agent keeps of people's settings and of whom it may act for counts by signatures alone, and the lock lets nothing else through (S5, S10)."""

import asyncio
import base64
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

from infra.postgres.settings import SUPERUSER
from infra.prove.areas.decisions import try_forged
from infra.prove.areas.forgeries import MARK, SIGNATURE, Forged
from infra.prove.check import Book, Check
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.agency import ActionDecision, AgentSetting, setting_fault
from schemas.console.v1 import DelegationIssued, SettingDecided
from schemas.outward import Delegation, Owner
from schemas.statements import KeyChange, Opening, Signed, Statement
from shared.clock import now
from shared.errors import BadSignature
from shared.ids import fresh_id
from shared.settings import DATABASES
from shared.signing import PublicKeys

LISTED, SECONDS = 5, 15.0
AGAIN, PATIENCE = 0.5, 6
LONGEST = timedelta(hours=24)
_KINDS: dict[str, type[Statement]] = {kind.PURPOSE: kind for kind in (AgentSetting, ActionDecision, KeyChange)}
_HIDDEN = ("person_id", "person_name", "via", "reason", "nonce")
_STATEMENTS = "SELECT statement, signature, key_id, purpose, person_id, person_name, via, reason, nonce FROM core.statements ORDER BY position"
_SHOWN = "SELECT name, subject, value, version FROM app.agent_settings"
_DELEGATIONS = (
    "SELECT owner_kind, owner_id, statement, signature, key_id, issued_at::text, expires_at::text FROM core.delegations"
)
_KEPT = "SELECT subject FROM core.statements WHERE nonce = $1"
_ANSWER = """SELECT convert_from(body, 'UTF8')::jsonb #>> '{data,outcome}' FROM app.outbox
  WHERE name = 'setting.applied' AND convert_from(body, 'UTF8')::jsonb #>> '{data,statement_hash}' = $1"""


async def check(target: Target) -> list[Check]:
    book = Book("owners")
    await check_settings(target, book)
    await check_delegations(target, book)
    try:
        await check_forged(target, book)
    finally:
        await forget(target, "bridge", "o")
    return book.checks


async def check_settings(target: Target, book: Book) -> None:
    """Each was signed by a decision key that counted, in the name of the person it commits to; and the console shows what they make."""
    keys = PublicKeys.load(target.layout.public_keys)
    faults, differing = list[str](), ""
    for turn in range(PATIENCE):
        faults, held = _replayed(await _ask(target, "agent", _STATEMENTS), keys.copy())
        shown = {
            (name, subject): (value, version) for name, subject, value, version in await _ask(target, "console", _SHOWN)
        }
        differing = ", ".join(sorted(f"{name} {subject}".strip() for name, subject in _apart(shown, held)))
        if not faults and not differing:
            break
        if turn + 1 < PATIENCE:
            await asyncio.sleep(AGAIN)
    book.holds("agent", "every setting and decision that counts was signed by a person's key", "; ".join(faults[:LISTED]))  # fmt: skip
    book.holds("console", "people are shown the settings that the agent works by", differing)


def _apart(one: dict[tuple[str, str], Any], other: dict[tuple[str, str], Any]) -> set[tuple[str, str]]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def _replayed(rows: list[list[Any]], keys: PublicKeys) -> tuple[list[str], dict[tuple[str, str], tuple[str, int]]]:
    """(what does not hold, the settings that the rest makes)."""
    faults, revoked, held, counts = [], set[str](), dict[tuple[str, str], tuple[str, int]](), Counter[tuple[str, str]]()
    for payload, signature, key_id, purpose, *hidden in rows:
        signed = _signed(payload, signature, key_id)
        found = _read(signed, purpose, keys, revoked, dict(zip(_HIDDEN, hidden, strict=True)))
        if isinstance(found, str):
            faults.append(f"{signed.hash[:12]}: {found}")
        elif isinstance(found, AgentSetting):
            named = (found.name, found.subject)
            if setting_fault(found.name, found.subject, found.value) or found.prior_version != counts[named]:
                faults.append(f"{signed.hash[:12]}: it can be no setting, or came out of its order")
            counts[named] += 1
            held[named] = (found.value, counts[named])
    return faults, held


def _read(signed: Signed, purpose: str, keys: PublicKeys, revoked: set[str], hidden: dict[str, str]) -> Statement | str:
    """The statement, or what is wrong with it."""
    kind = _KINDS.get(purpose)
    if kind is None:
        return f"nobody signs for {purpose}"
    if signed.key_id in revoked:
        return f"key {signed.key_id} was revoked before"
    try:
        found = keys.verify("decision", signed, kind)
    except BadSignature as error:
        return error.message
    if isinstance(found, KeyChange):
        if found.action == "revoked":
            revoked.add(found.subject_key_id)
        else:
            keys.add("decision", found.subject_key_id, base64.b64decode(found.subject_public_key))
        return found
    opening = Opening(**hidden)
    return (
        found
        if opening.commitment == getattr(found, "decider", "")
        else f"it commits to somebody else than {opening.person_name}"
    )


async def check_delegations(target: Target, book: Book) -> None:
    """Each was signed by the identity key, for the owner in whose row it stands, for the agent, and for no longer than it may be."""
    keys = PublicKeys.load(target.layout.public_keys)
    read: Attempt = {"kind": "rows", "role": SUPERUSER, "database": DATABASES["agent"], "query": _DELEGATIONS}
    (outcome,) = await target.run("pgadm", [read])
    faults = [fault for row in outcome["value"] if (fault := _delegation_fault(keys, row))]
    book.holds("agent", "every delegation is its owner's, and the console's word", "; ".join(faults[:LISTED]))


def _delegation_fault(keys: PublicKeys, row: list[Any]) -> str:
    kind, owner_id, payload, signature, key_id, *_ = row
    whose = f"{kind}:{owner_id}"
    try:
        found = keys.verify("identity", _signed(payload, signature, key_id), Delegation)
    except BadSignature as error:
        return f"{whose}: {error.message}"
    if str(found.owner) != whose or kind != "user":
        return f"{whose}: it is for {found.owner}"
    if found.audience != "agent" or found.expires_at - found.issued_at > LONGEST:
        return f"{whose}: it is for {found.audience}, {found.expires_at - found.issued_at} long"
    return ""


async def check_forged(target: Target, book: Book) -> None:
    """Settings that nobody made, and delegations that the console did not give: nothing passes the lock, and nothing of it is kept."""
    forger = Forger.of(target)
    await try_forged(
        target, book, [*await _forged_settings(target, forger), *await _forged_delegations(target, forger)], "o"
    )
    await _out_of_order(target, book, forger)
    kept: Attempt = {
        "kind": "rows",
        "role": "agent",
        "database": DATABASES["agent"],
        "query": _KEPT,
        "args": [forger.token],
    }
    (outcome,) = await target.run("agent", [kept])
    book.holds("agent", "none of it is a statement that the agent keeps", ", ".join(row[0] for row in outcome["value"]))


async def _forged_settings(target: Target, forger: Forger) -> list[Forged]:
    agents = forger.opening.model_copy(update={"via": "agent"})
    said, by_agent = _setting(forger, forger.opening), _setting(forger, agents)
    real, crossed, other_way, identity = await sign(
        target,
        "console",
        [
            ("decision", AgentSetting.PURPOSE, said.to_bytes()),
            ("decision", ActionDecision.PURPOSE, said.to_bytes()),
            ("decision", AgentSetting.PURPOSE, by_agent.to_bytes()),
            ("identity", AgentSetting.PURPOSE, said.to_bytes()),
        ],
    )
    raised = said.to_bytes().replace(b'"value":"0"', b'"value":"none"')
    somebody = forger.opening.model_copy(update={"person_name": "somebody else"})
    return [
        _setting_event(forger, "not signed", real.model_copy(update={"signature": b""})),
        _setting_event(forger, "signed by a stranger", forger.by_stranger(said)),
        _setting_event(forger, "signed by a stranger in the real key's name", forger.by_stranger(said, forger.key_id)),
        _setting_event(forger, "signed with the identity key", identity),
        _setting_event(forger, "signed for another purpose", crossed),
        _setting_event(forger, "a cap raised after signing", real.model_copy(update={"payload": raised})),
        _setting_event(forger, "well signed, another person than signed for", real, opening=somebody),
        _setting_event(forger, "well signed, by way of an agent", other_way, "invalid", agents),
    ]


async def _forged_delegations(target: Target, forger: Forger) -> list[Forged]:
    at = now()
    said = Delegation(
        key_id=forger.key_id, delegation_id=fresh_id(), owner=Owner(kind="user", id="prove"), audience="agent", operations=("audit.search",),
        issued_at=at, expires_at=at + timedelta(minutes=10),
    )  # fmt: skip
    decided, other = await sign(
        target,
        "console",
        [("decision", Delegation.PURPOSE, said.to_bytes()), ("identity", AgentSetting.PURPOSE, said.to_bytes())],
    )
    wrong = {
        "signed with the decision key": decided,
        "signed by a stranger": forger.by_stranger(said, other.key_id),
        "signed for another purpose": other,
    }
    return [Forged(says, forger.event("delegation.issued", DelegationIssued(delegation=each), MARK), "", "delegation.issued") for says, each in wrong.items()]  # fmt: skip


async def _out_of_order(target: Target, book: Book, forger: Forger) -> None:
    """Well signed, but made of what was long ago: the agent refuses it, and says so."""
    (real,) = await sign(
        target, "console", [("decision", AgentSetting.PURPOSE, _setting(forger, forger.opening).to_bytes())]
    )
    body = _setting_event(forger, "", real).body.replace(f":{MARK}:", ":nowhere:")
    await target.run("console", [{"kind": "bus", "as": "console", "op": "ask", "subjects": ["from.console.setting.decided"], "payload": body}])  # fmt: skip
    asked: Attempt = {
        "kind": "rows",
        "role": "agent",
        "database": DATABASES["agent"],
        "query": _ANSWER,
        "args": [real.hash],
    }
    got = "no answer"
    for _ in range(int(SECONDS / 0.25)):
        (outcome,) = await target.run("agent", [asked])
        if outcome["value"]:
            got = str(outcome["value"][0][0])
            break
        await asyncio.sleep(0.25)
    book.same("console", "setting.decided: well signed, after a setting that there is not", "refused", got)


def _setting(forger: Forger, opening: Opening) -> AgentSetting:
    """Of somebody who does not exist, as the thousandth."""
    who: UUID = uuid5(UUID(int=0), f"setting {forger.token}")
    return AgentSetting(
        key_id=forger.key_id, name="cap", subject=f"user:{who}", value="0", decided_at=now(), decider=opening.commitment, prior_version=999
    )  # fmt: skip


def _setting_event(forger: Forger, says: str, signed: Signed, expected: str = SIGNATURE, opening: Opening | None = None) -> Forged:  # fmt: skip
    data = SettingDecided(statement=signed, opening=opening or forger.opening)
    return Forged(says, forger.event("setting.decided", data, MARK), expected, "setting.decided")


def _signed(payload: str, signature: str, key_id: str) -> Signed:
    return Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id)


async def _ask(target: Target, service: str, query: str) -> list[list[Any]]:
    read: Attempt = {"kind": "rows", "role": service, "database": DATABASES[service], "query": query}
    (outcome,) = await target.run(service, [read])
    rows: list[list[Any]] = outcome["value"]
    return rows
