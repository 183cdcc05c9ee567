"""An owner or admin sets a switch, with a reason. In force when the lock says so."""

from schemas.console.v1 import SwitchSet
from schemas.statements import SwitchSetting
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from services.console.switches import store
from services.console.switches.domain import check_switch, check_value, check_why
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict
from shared.signing import SigningKey


async def set_switch(
    tx: Tx, key: SigningKey, caller: Caller, name: str, value: str, reason: str, version: int | None = None
) -> str:
    """The statement's hash. Conflict when the switch was set since the page with `version` was shown."""
    caller.require("switch")
    switch = check_switch(name)
    value, why = check_value(switch, value), check_why(reason)
    number = await next_version(tx, f"switch:{name}")
    held = await store.version_of(tx, name)
    if version is not None and version != held:
        raise Conflict(f"{switch.title} was set by somebody else since you opened the page. Nothing was changed.")
    at, opening = now(), make_opening(caller, why)
    setting = SwitchSetting(
        key_id=key.key_id, name=switch.name, value=value, decided_at=at, decider=opening.commitment, prior_version=held
    )
    signed = key.sign(setting)
    row = {"statement_hash": signed.hash, "name": name, "value": value, "by_name": caller.name}
    await store.add_change(tx, {**row, "reason": why, "at": at, "outcome": "sent"})
    data = SwitchSet(statement=signed, opening=opening)
    tx.stage("switch.set", data, key=f"switch:{name}", version=number, actor=caller.name)
    return signed.hash
