"""A person's connector setting arrives: verified, checked, kept, and in force."""

from pydantic import ValidationError

from schemas.connectors.v1 import ConnectorApplied
from schemas.console.v1 import ConnectorDeclared
from schemas.outward import ConnectorSetting
from schemas.text import BadJson, canonical, parse_json
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.book import store
from services.connectors.book.domain import Connector
from services.connectors.book.keeper import Keeper
from services.connectors.book.usecases.refuse_change import refuse_change
from services.connectors.kinds.arguments import are_of_names, faults_of
from services.connectors.kinds.kind import KindSettings
from services.connectors.kinds.registry import KINDS
from shared.bus import Received
from shared.clock import now
from shared.db import Tx
from shared.errors import Refused, SchleuseError
from shared.ids import new_id


async def record_setting(tx: Tx, event: Received[ConnectorDeclared], keeper: Keeper) -> None:
    """`connector.applied`, or `change.refused` and nothing changed."""
    signed, opening = event.data.statement, event.data.opening
    book, keys = await keeper.locked(tx)
    try:
        setting = keys.verify_by(signed, opening, ConnectorSetting)
        book.check_setting(setting)
        was = book.connectors.get(setting.name)
        hosts = _hosts(setting, was)
    except SchleuseError as error:
        refuse_change(tx, event, signed, error)
        return
    await store.add_statement(tx, setting.PURPOSE, f"connector:{setting.name}", signed, opening)
    keeper.written(tx)
    applied = ConnectorApplied(
        name=setting.name,
        kind=setting.kind,
        enabled=setting.enabled,
        hosts=hosts,
        settings=setting.settings,
        statement_hash=signed.hash,
        at=now(),
        version=setting.prior_version + 1,
    )
    tx.stage("connector.applied", applied, key=f"connector:{setting.name}", version=applied.version, cause=event)
    await record_notes(tx, [_note(setting, was, opening.person_name)])


def _hosts(setting: ConnectorSetting, was: Connector | None) -> tuple[str, ...]:
    """Its allow-list. Off it reaches nothing: to switch it off needs no release that still knows its kind and settings."""
    try:
        settings = check_settings(setting.kind, setting.settings)
        return KINDS[setting.kind].hosts(settings)
    except Refused:
        if setting.enabled or was is None or parse_json(setting.settings.encode()) != was.settings:
            raise
        return ()


def _note(setting: ConnectorSetting, was: Connector | None, by: str) -> Note:
    switched = was is not None and was.enabled != setting.enabled
    said = f"{'on' if setting.enabled else 'off'}, by {by}"
    return Note(
        call_id=new_id(),
        asker="console",
        operation=f"connector.{('on' if setting.enabled else 'off') if switched else 'declare'}",
        outcome="noted",
        connector=setting.name,
        target=f"declaration {setting.prior_version + 1}",
        detail=said[:500],
    )


def check_settings(kind: str, settings: str) -> KindSettings:
    """Refused when there is no such kind, or its settings are not what it takes."""
    if kind not in KINDS:
        raise Refused(f"there is no kind of connector {kind!r}; there are {', '.join(sorted(KINDS))}")
    try:
        if canonical(parse_json(settings.encode())).decode() != settings:
            raise Refused("the settings are not in canonical form (RFC 8785)")
        return KINDS[kind].settings.model_validate_json(settings)
    except (BadJson, TypeError) as error:
        raise Refused(f"the settings cannot be read: {error}") from None
    except ValidationError as error:
        known = f" (kind {kind} takes {', '.join(KINDS[kind].settings.model_fields)})" if are_of_names(error) else ""
        raise Refused(f"these settings do not fit: {faults_of(error)}{known}") from None
