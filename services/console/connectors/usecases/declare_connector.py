"""An owner or admin declares a connector, changes its settings, or turns it on or off. In force when the connectors say so."""

from schemas.console.v1 import ConnectorDeclared
from schemas.outward import ConnectorSetting
from services.console.connectors import store
from services.console.connectors.domain import Declared, check_free, check_name, check_why, settings_text
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, Refused
from shared.signing import SigningKey


async def declare_connector(
    tx: Tx, key: SigningKey, caller: Caller, declared: Declared, reason: str, version: int | None = None
) -> str:
    """The statement's hash. Conflict when it was changed since the page with `version` was shown (0: there was none)."""
    caller.require("connectors")
    name, kind = check_name(declared.name), check_name(declared.kind, "A kind")
    why, settings = check_why(reason), settings_text(declared.settings)
    number = await next_version(tx, f"connector:{name}")  # locks it
    held, at = await store.one(tx, name), now()
    check_free(await store.newest_change(tx, name), name, at)
    prior = int(held["version"]) if held else 0
    if version is not None and version != prior:
        raise Conflict(f"{name} was changed by somebody else since you opened the page. Nothing was changed.")
    if held is not None and held["kind"] != kind:
        raise Refused(f"{name} is of kind {held['kind']}; declare another connector for {kind}.", code="kind")
    opening = make_opening(caller, why)
    setting = ConnectorSetting(
        key_id=key.key_id,
        name=name,
        kind=kind,
        settings=settings,
        enabled=declared.enabled,
        decided_at=at,
        decider=opening.commitment,
        prior_version=prior,
    )
    signed = key.sign(setting)
    row = {"statement_hash": signed.hash, "name": name, "kind": kind, "settings": settings, "enabled": declared.enabled}
    await store.add_change(tx, {**row, "by_name": caller.name, "reason": why, "at": at, "outcome": "sent"})
    data = ConnectorDeclared(statement=signed, opening=opening)
    tx.stage("connector.declared", data, key=f"connector:{name}", version=number, actor=caller.name)
    return signed.hash
