"""A new set of fingerprints is numbered and handed to the lock, unless a young one says the same."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from schemas.connectors.v1 import Fingerprint, FingerprintsTaken
from schemas.text import canonical, sha256
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.fingerprints import store
from services.connectors.secrets.types import SecretValue
from shared.db import Tx
from shared.fingerprints import FingerprintKey
from shared.ids import new_id

RENEW = timedelta(minutes=55)
"""So old may a set be that says the same; the lock stops believing one after three hours."""
PART = 5000


async def take_fingerprints(
    tx: Tx, key: FingerprintKey, entries: frozenset[Fingerprint], opened: Sequence[Note], at: datetime
) -> bool:
    """Whether there was anything to say. One instance at a time; another one finds it done. `opened`: each secret that was opened for it."""
    listed = tuple(sorted(entries, key=lambda each: (each.first, each.whole)))  # not in the order of the secrets
    digest = sha256(canonical([key.key_id, [each.model_dump(mode="json") for each in listed]]))
    last = await store.last_taken(tx, at - RENEW)
    fresh = not last.young or last.digest != digest
    if fresh:
        await store.set_taken(tx, last.version + 1, digest, at)
        for part in _parts(key, listed, at, last.version + 1):
            tx.stage("fingerprints.taken", part, key=f"fingerprints:{part.part}", version=part.version)
    if opened:
        await record_notes(tx, opened)
    return fresh


def opened_for_fingerprints(value: SecretValue) -> Note:
    """Opening a secret is an entry of the audit, whatever for (rule 17)."""
    place = value.place
    return Note(new_id(), "connectors", "fingerprint", "noted", connector=place.connector, secret=value.label)


def _parts(
    key: FingerprintKey, listed: tuple[Fingerprint, ...], at: datetime, version: int
) -> Iterator[FingerprintsTaken]:
    parts = max(1, -(-len(listed) // PART))
    for part in range(1, parts + 1):
        entries = listed[(part - 1) * PART : part * PART]
        taken = FingerprintsTaken(
            key_id=key.key_id, part=part, parts=parts, entries=entries, at=at, version=version, mac="0" * 64
        )
        yield taken.model_copy(update={"mac": key.mac(taken)})
