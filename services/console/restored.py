"""After a restore, before anything else runs: the console's keys follow what was changed since the backup. Runs as the console's OS user.

    python -m services.console.restored --state DIR

Standard input: {"keys": [statements of key entries that came after, oldest first], "closing": reason or ""}. Standard error, last line: {"result":
{"signing": key id, "closing": record or null}}. The record is a signed setting of the site's mode to `off`, for the lock.
"""

import asyncio
import base64
import json
import sys
from typing import Any

from schemas.statements import KeyChange, SwitchSetting
from schemas.text import sha256
from services.console.keys import store
from services.console.keys.ring import KeyRing
from services.console.keys.usecases.open_ring import open_ring
from services.console.people.domain import OPERATOR
from services.console.queue.usecases.decide_item import make_opening
from services.console.schema import app
from services.console.switches.store import version_of
from shared.clock import now
from shared.db import Database, Tx, create_missing
from shared.errors import Conflict, Transient
from shared.settings import Settings
from shared.signing import SigningKey

Record = dict[str, Any]


async def settle(settings: Settings, given: Record) -> Record:
    """Conflict when no decision key that counts has its file here."""
    db, ring = Database(settings, pool_size=2), KeyRing(settings.keys)
    await db.start()
    try:
        await create_missing(db, app)
        async with db.transaction() as tx:
            await open_ring(tx, ring)
            key = await adopt_keys(tx, ring, [_change(each) for each in given["keys"]])
            closing = await _closing(tx, key, given["closing"]) if given["closing"] else None
    finally:
        await db.stop()
    return {"signing": key.key_id, "closing": closing}


async def adopt_keys(tx: Tx, ring: KeyRing, changes: list[tuple[KeyChange, str]]) -> SigningKey:
    """Take in added and revoked keys; the key that signs from here on: the one that did, or the newest that counts."""
    for change, statement_hash in changes:
        if change.action == "revoked":
            await store.ask_to_revoke(tx, change.subject_key_id, statement_hash)
            continue
        row = {"key_id": change.subject_key_id, "public_key": change.subject_public_key, "state": "recorded"}
        await store.add(tx, row | {"statement_hash": statement_hash, "at": now()})
    gone = {change.subject_key_id for change, _ in changes if change.action == "revoked"}
    held, keys = await store.lock_signing(tx), await store.keys(tx)
    counting = [each.key_id for each in keys if each.state == "recorded" and each.key_id not in gone]
    for key_id in [held.key_id, *reversed(counting)]:
        if key_id in gone or key_id not in counting:
            continue
        try:
            key = ring.get(key_id)
        except Transient:
            continue
        if key_id != held.key_id:
            await store.end_rotation(tx, key_id)
        return key
    raise Conflict("no decision key that counts has its file here; restore with the newest file of `schleuse backup keys`", code="no_key")  # fmt: skip


async def _closing(tx: Tx, key: SigningKey, reason: str) -> Record:
    opening = make_opening(OPERATOR, reason)
    setting = SwitchSetting(
        key_id=key.key_id,
        name="site_mode",
        value="off",
        decided_at=now(),
        decider=opening.commitment,
        prior_version=await version_of(tx, "site_mode"),
    )
    signed = key.sign(setting)
    statement = {"statement": signed.payload, "statement_signature": signed.signature}
    texts = {name: base64.b64encode(raw).decode() for name, raw in statement.items()}
    about = {"kind": "site_mode", "item_id": None, "at": now().isoformat(), "statement_key_id": signed.key_id}
    return about | texts | {"opening": opening.model_dump(mode="json")}


def _change(text: str) -> tuple[KeyChange, str]:
    raw = base64.b64decode(text)
    return KeyChange.from_bytes(raw), sha256(raw)


def main() -> None:
    settings = Settings.from_command_line("console")
    try:
        said: Record = {"result": asyncio.run(settle(settings, json.load(sys.stdin)))}
    except (Conflict, Transient) as error:
        said = {"failed": error.message, "code": error.code}
    sys.stderr.write(json.dumps(said) + "\n")
    raise SystemExit("failed" in said)


if __name__ == "__main__":
    main()
