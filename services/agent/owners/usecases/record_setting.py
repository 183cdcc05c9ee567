"""A person's setting of the agent arrives: verified, checked, kept, and in force."""

from schemas.agency import AgentSetting
from schemas.agent.v1 import SettingApplied
from schemas.console.v1 import SettingDecided
from services.agent.owners import store
from services.agent.owners.deciders import Deciders
from services.agent.owners.settings import AgentSettings, read_rules
from shared.bus import Received
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, Refused
from shared.signing import PublicKeys


async def record_setting(
    tx: Tx, event: Received[SettingDecided], deciders: Deciders, settings: AgentSettings, keys: PublicKeys
) -> None:
    """`setting.applied` says that it is in force, or why not; then nothing changed. BadSignature parks what nobody signed who may."""
    signed, opening = event.data.statement, event.data.opening
    await deciders.lock(tx)
    if await store.has_statement(tx, signed.hash):
        return
    setting = await deciders.verify_by(tx, signed, opening, AgentSetting)
    rules = await read_rules(tx, keys)
    try:
        rules.check(setting)
    except (Refused, Conflict) as error:
        _answer(tx, event, setting, rules.counts[setting.name, setting.subject], error.message)
        return
    await deciders.keep(tx, signed, opening, AgentSetting, f"setting:{setting.name}:{setting.subject}")
    settings.written(tx)
    _answer(tx, event, setting, setting.prior_version + 1)


def _answer(tx: Tx, event: Received[SettingDecided], setting: AgentSetting, version: int, refused: str = "") -> None:
    fact = SettingApplied(
        name=setting.name,
        subject=setting.subject,
        value=setting.value,
        outcome="refused" if refused else "applied",
        reason=refused[:500],
        statement_hash=event.data.statement.hash,
        at=now(),
        version=version,
    )
    tx.stage("setting.applied", fact, key=f"setting:{fact.statement_hash}", version=1, cause=event)
