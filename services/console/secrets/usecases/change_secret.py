"""An owner or admin changes a secret, or somebody one of their own. In force when the connectors say so; the value was sealed before this is called."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from schemas.console.v1 import SecretSealed
from schemas.outward import SecretChange, SecretType
from schemas.statements import Opening
from schemas.text import sha256
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from services.console.secrets import store
from services.console.secrets.domain import Change, check_change, next_number
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused
from shared.signing import SigningKey


async def change_secret(tx: Tx, key: SigningKey, caller: Caller, change: Change) -> str:
    """The statement's hash. Conflict when the secret was changed since the page with `seen` was shown."""
    caller.require("connectors")
    return await _change(tx, key, caller, change)


async def change_own_secret(tx: Tx, key: SigningKey, caller: Caller, change: Change) -> str:
    """The same by anybody, for a secret that the agent uses on their own behalf alone. NotFound for every other place (rule 24)."""
    owner = change.place.owner
    if change.place.surface != "agent" or owner is None or (owner.kind, owner.id) != ("user", caller.id):
        raise NotFound(f"There is no secret {change.place}.", code="secret_unknown")
    return await _change(tx, key, caller, change)


async def _change(tx: Tx, key: SigningKey, caller: Caller, change: Change) -> str:
    at = now()
    why = check_change(change, at, why=caller.via != "operator")
    number = await next_version(tx, f"secret:{change.place}")
    held = await store.held(tx, str(change.place))
    prior = held["version"] if held else 0
    if change.seen is not None and change.seen != prior:
        raise Conflict(f"{change.place} was changed by somebody else since you opened the page. Nothing was changed.")
    opening = make_opening(caller, why)
    statement = _statement(change, held, key.key_id, opening, at)
    signed = key.sign(statement)
    row = {"statement_hash": signed.hash, "place": str(change.place), "action": change.action, "outcome": "sent"}
    by = {"version": statement.version, "by_name": caller.name, "reason": why, "at": at}
    await store.add_change(tx, row | by)
    data = SecretSealed(statement=signed, opening=opening, sealed=change.sealed)
    tx.stage("secret.sealed", data, key=f"secret:{change.place}", version=number, actor=caller.name)
    return signed.hash


def _statement(
    change: Change, held: Mapping[str, Any] | None, key_id: str, opening: Opening, at: datetime
) -> SecretChange:
    number = next_number(change, held)
    return SecretChange(
        key_id=key_id,
        action=change.action,
        place=change.place,
        type=_type(change, held),
        version=number,
        public=dict(change.public),
        operations=change.operations,
        sealed_hash=None if change.sealed is None else sha256(change.sealed),
        overlap_until=None if change.overlap is None else at + change.overlap,
        expires_at=change.expires_at,
        decided_at=at,
        decider=opening.commitment,
        prior_version=held["version"] if held else 0,
    )


def _type(change: Change, held: Mapping[str, Any] | None) -> SecretType:
    if change.type is not None:
        return change.type
    if held is None:
        raise Refused("Name the secret's type.", code="type")
    found: SecretType = held["type"]
    return found
