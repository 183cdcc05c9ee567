"""An owner or admin sets how the agent works, with a reason. In force when the agent says so."""

from uuid import UUID

from schemas.agency import AgentSetting
from schemas.console.v1 import SettingDecided
from services.console.agency import store
from services.console.agency.domain import Wanted
from services.console.connectors.domain import check_free, check_why
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused
from shared.signing import SigningKey


async def set_setting(
    tx: Tx, key: SigningKey, caller: Caller, wanted: Wanted, reason: str, version: int | None = None
) -> str:
    """The statement's hash. Conflict when it was set since the page with `version` was shown (0: it never was)."""
    caller.require("switch")
    why, about = check_why(reason), f"agent:{wanted.name}:{wanted.subject}"
    number = await next_version(tx, about)  # locks it
    await _check(tx, wanted)
    held, at = await store.version_of(tx, wanted.name, wanted.subject), now()
    check_free(await store.newest_change(tx, wanted.name, wanted.subject), "this setting", at)
    if version is not None and version != held:
        raise Conflict("This was set by somebody else since you opened the page. Nothing was changed.")
    opening = make_opening(caller, why)
    setting = AgentSetting(
        key_id=key.key_id,
        name=wanted.name,
        subject=wanted.subject,
        value=wanted.value,
        decided_at=at,
        decider=opening.commitment,
        prior_version=held,
    )
    signed = key.sign(setting)
    row = {"statement_hash": signed.hash, "name": wanted.name, "subject": wanted.subject, "value": wanted.value}
    await store.add_change(tx, {**row, "by_name": caller.name, "reason": why, "at": at, "outcome": "sent"})
    data = SettingDecided(statement=signed, opening=opening)
    tx.stage("setting.decided", data, key=about, version=number, actor=caller.name)
    return signed.hash


async def _check(tx: Tx, wanted: Wanted) -> None:
    """That there is such a person, or such a connector."""
    kind, _, person_id = wanted.subject.partition(":")
    if kind == "user" and not await store.names_of(tx, [UUID(person_id)]):
        raise NotFound("There is no such person; `schleuse people list` shows everybody.")
    connector = wanted.value.partition("/")[0]
    if wanted.name == "model" and connector:
        found = await store.kind_of(tx, connector)
        if found != "llm":
            said = "is not declared" if found is None else f"is of kind {found}"
            raise Refused(f"{connector} {said}; a model is reached by a connector of kind llm.", code="connector")
