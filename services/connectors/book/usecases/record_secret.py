"""A person's change of a secret arrives: verified, checked, its value kept sealed, and in force."""

from schemas.connectors.v1 import SecretApplied, SecretVersion
from schemas.console.v1 import SecretSealed
from schemas.outward import SecretChange
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.book import store
from services.connectors.book.domain import Secret, Version
from services.connectors.book.keeper import Keeper
from services.connectors.book.usecases.refuse_change import refuse_change
from services.connectors.secrets.vault import Vault
from shared.bus import Received
from shared.clock import now
from shared.db import Tx
from shared.errors import Refused, SchleuseError, Transient
from shared.ids import new_id


async def record_secret(tx: Tx, event: Received[SecretSealed], keeper: Keeper, vault: Vault) -> None:
    """`secret.applied`, or `change.refused` and nothing changed. Transient when the value cannot be kept now: it is tried again."""
    signed, opening = event.data.statement, event.data.opening
    book, keys = await keeper.locked(tx)
    try:
        change = keys.verify_by(signed, opening, SecretChange)
        book.check_secret(change)
        _check_sealed(change, event.data.sealed, vault)
    except Transient:
        raise
    except SchleuseError as error:
        refuse_change(tx, event, signed, error)
        return
    if event.data.sealed is not None:
        await vault.keep(event.data.sealed)
    await store.add_statement(tx, change.PURPOSE, f"secret:{change.place}", signed, opening)
    keeper.written(tx)
    applied = _applied(book.enter_secret(change, signed.hash))
    tx.stage("secret.applied", applied, key=f"secret:{change.place}", version=applied.version, cause=event)
    await record_notes(tx, [_note(change, opening.person_name)])


def _note(change: SecretChange, by: str) -> Note:
    owner, version = change.place.owner, f" v{change.version}" if change.version else ""
    return Note(
        call_id=new_id(),
        asker="console",
        operation=f"secret.{change.action}",
        outcome="noted",
        on_behalf_of=str(owner or ""),
        connector=change.place.connector,
        target=f"secret of {change.place.surface}",
        secret=f"{change.place}{version}",
        detail=f"by {by}"[:500],
    )


def _check_sealed(change: SecretChange, sealed: bytes | None, vault: Vault) -> None:
    if (sealed is None) != (change.sealed_hash is None):
        raise Refused("a sealed value and its hash come together, for a new version only", code="sealed_hash")
    if sealed is not None:
        vault.examine(sealed, change)


def _applied(secret: Secret) -> SecretApplied:
    return SecretApplied(
        place=secret.place,
        type=secret.type,
        state="revoked" if secret.revoked else "active",
        current=secret.current,
        versions=tuple(_version(secret, each) for each in secret.versions),
        public=secret.public,
        operations=secret.operations,
        statement_hash=secret.statement_hash,
        at=now(),
        version=secret.changes,
    )


def _version(secret: Secret, version: Version) -> SecretVersion:
    here = "current" if version.number == secret.current else "replaced"
    return SecretVersion(
        version=version.number,
        state="revoked" if version.revoked else here,
        sealed_hash=version.sealed_hash,
        put_at=version.put_at,
        expires_at=version.expires_at,
        usable_until=version.usable_until,
    )
