"""Area audit: the call audit is what its bytes, its checkpoints, the lock and the console say; nothing old goes into it, no foreign checkpoint is witnessed (rule 17)."""

import asyncio
import secrets
from typing import Any
from uuid import UUID, uuid5

from infra.observe import call_audit
from infra.prove.areas.decisions import try_forged
from infra.prove.areas.forgeries import MARK, Forged
from infra.prove.check import Book, Check
from infra.prove.forge import Forger
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.connectors.v1 import CheckpointSigned
from schemas.outward import Checkpoint
from schemas.statements import Signed
from shared.clock import now
from shared.operator import call
from shared.settings import DATABASES
from shared.signing import SigningKey

NAME = "checkpoint.signed"
PLACES = {
    "connectors": "the call audit follows from its bytes and agrees with its checkpoints",
    "bridge": "the checkpoints that it keeps and the entries that crossed agree with the call audit",
    "console": "its copy of the call audit follows from its content and agrees",
}
_OLD = """INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous)
  SELECT coalesce(max(seq), -1) + 1, '{id}', {entry}, encode(sha256({entry}), 'hex'),
    coalesce((SELECT hash FROM core.call_audit ORDER BY seq DESC LIMIT 1), repeat('0', 64)) FROM core.call_audit"""
_STATED = """INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous, {column}) VALUES (0, '{id}', '', '', '', {value})"""
_KEPT = "SELECT size::text FROM core.audit_checkpoints WHERE size = $1::bigint"


async def check(target: Target) -> list[Check]:
    book = Book("audit")
    try:
        await asyncio.gather(check_entries(target, book), check_inserts(target, book), check_forged(target, book))
    finally:
        await forget(target, "bridge", "w")
    return book.checks


async def check_entries(target: Target, book: Book) -> None:
    """What `schleuse audit verify` does."""
    state = target.layout.state

    def ask(service: str, verb: str, args: dict[str, Any]) -> dict[str, Any]:
        return call(state, service, verb, args)

    found = await asyncio.to_thread(call_audit.verify, ask)
    for place, says in PLACES.items():
        faults = [f"entry {each['entry']}: {each['reason']}" for each in found["findings"] if each["place"] == place]
        book.holds(place, says, "; ".join(faults[:3]))
    book.holds("operator", "everybody who bears witness to the call audit answers", "; ".join(found["unasked"]))


async def check_inserts(target: Target, book: Book) -> None:
    """The service may add the next entry, as it happens; what the database makes of it is not the service's to say."""
    entry = "convert_to('{\"at\":\"2020-01-01T00:00:00Z\"}', 'UTF8')"
    identity = uuid5(UUID(int=0), target.token)
    tries = {
        "an entry of the call audit with an old date": (_OLD.format(id=identity, entry=entry), "23514"),
        "an entry that states when it was noted": (_STATED.format(id=identity, column="noted_at", value="'2020-01-01'"), "42501"),
        "an entry that states whose it is": (_STATED.format(id=identity, column="on_behalf_of", value="'user:8'"), "42501"),
    }  # fmt: skip
    made = [_sql(statement, code) for statement, code in tries.values()]
    for says, outcome in zip(tries, await target.run("connectors", made), strict=True):
        book.outcome("connectors", f"core: {says}", outcome)


def _sql(statement: str, code: str) -> Attempt:
    database = DATABASES["connectors"]
    return {"kind": "sql", "role": "connectors", "database": database, "statement": statement, "codes": [code]}


async def check_forged(target: Target, book: Book) -> None:
    """Checkpoints that the connectors' real account brings, but that their audit key did not sign, or not for this."""
    forger, key = Forger.of(target), SigningKey(secrets.token_bytes(32))
    checkpoint = Checkpoint(key_id=key.key_id, size=forger.far, root="0" * 64, at=now())
    signed = key.sign(checkpoint)
    other = Signed(
        payload=signed.payload, signature=key.sign_bytes("schleuse.witness.v1", signed.payload), key_id=key.key_id
    )
    tries = {"signed with another key": signed, "signed for another purpose": other}
    forged = [Forged(says, forger.event(NAME, CheckpointSigned(checkpoint=each), MARK), "parked", NAME) for says, each in tries.items()]  # fmt: skip
    await try_forged(target, book, forged, "w", "connectors")
    kept: Attempt = {
        "kind": "rows",
        "role": "bridge",
        "database": DATABASES["bridge"],
        "query": _KEPT,
        "args": [forger.far],
    }
    (left,) = await target.run("bridge", [kept])
    book.holds("bridge", "no forged checkpoint is kept", ", ".join(row[0] for row in left["value"]))
