"""Tell the surfaces what somebody may do from now on, signed by the identity key."""

from datetime import datetime
from uuid import UUID

from schemas.console.v1 import PersonChanged
from schemas.model import Role
from services.console.identity import store
from services.console.identity.domain import AUDIENCES
from services.console.identity.issuer import Issuer
from shared.db import Tx


async def state_person(tx: Tx, issuer: Issuer, person_id: UUID, role: Role | None, at: datetime, since: datetime | None = None, by: str | None = None) -> None:  # fmt: skip
    """One standing for each surface. `role` None: shut out. What was begun there before `since` (default: `at`) is over.

    `by`: who wanted it, for the record inside; the person herself when left out.
    """
    signed, newest, since = [], 0, since or at
    for audience in AUDIENCES:
        subject = issuer.subject(audience, person_id)
        version = await store.next_standing(tx, audience, subject, person_id, role, since, at)
        newest = max(newest, version)
        signed.append(
            issuer.standing(
                audience=audience, subject=subject, role=role, sessions_from=since, version=version, decided_at=at
            )
        )
    tx.stage("person.changed", PersonChanged(standings=tuple(signed)), key=str(person_id), version=newest, actor=by)


async def state_guest(
    tx: Tx,
    issuer: Issuer,
    subject: UUID,
    at: datetime,
    *,
    by: str,
    link_hash: str | None = None,
    until: datetime | None = None,
) -> None:
    """A guest of the site, let in by a link until then; without a link: not welcome any more."""
    role = "guest" if link_hash else None
    version = await store.next_standing(tx, "site", subject, None, role, at, at)
    signed = issuer.standing(
        audience="site",
        subject=subject,
        role=role,
        sessions_from=at,
        link_hash=link_hash,
        until=until,
        version=version,
        decided_at=at,
    )
    tx.stage("person.changed", PersonChanged(standings=(signed,)), key=str(subject), version=version, actor=by)
