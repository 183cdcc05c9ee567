"""The agent's owners on a real database: what the console says arrives, signed by keys of the test's own installation."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from schemas.agency import Access, AgentSetting
from schemas.catalogue import BY_NAME
from schemas.console.v1 import SettingDecided
from schemas.envelope import Envelope
from schemas.model import Data
from schemas.outward import Delegation, Owner
from schemas.statements import Opening, Signed, Standing
from schemas.text import sha256
from services.agent.owners.access import AccessKeys
from services.agent.owners.deciders import Deciders
from services.agent.owners.delegations import Delegations
from services.agent.owners.settings import AgentSettings
from services.agent.owners.usecases.record_access import record_access
from services.agent.owners.usecases.record_delegation import record_delegation
from services.agent.owners.usecases.record_setting import record_setting
from services.agent.tables import app
from shared.bus import Received
from shared.clock import now
from shared.db import Database, create_missing
from shared.db.notices import Notices
from shared.health import Health
from shared.identity import record_standing
from shared.ids import new_id, new_token
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers

_MADE: set[Path] = set()
"""State directories whose agent has its tables."""


def received(name: str, data: Data) -> Received[Any]:
    """An event as its reader gets it."""
    event = BY_NAME[name]
    envelope = Envelope(
        id=new_id(), source="/console", type=event.ce_type, dataschema=event.schema_name(), subject="s", time=now(), key="k",
        keyversion=1, data={},
    )  # fmt: skip
    return Received(data, envelope, b"", "")


def opening(reason: str = "because", via: str = "console") -> Opening:
    return Opening(person_id="p", person_name="Ada Owner", via=via, reason=reason, nonce=uuid4().hex)


@dataclass
class OwnerOffice:
    """`identity` and `decision` are the console's keys; `versions` counts what was said of each subject."""

    db: Database
    keys: PublicKeys
    identity: SigningKey
    decision: SigningKey
    settings: AgentSettings
    versions: dict[UUID, int] = field(default_factory=dict)

    @property
    def access(self) -> AccessKeys:
        return AccessKeys(self.db, self.keys)

    @property
    def delegations(self) -> Delegations:
        return Delegations(self.db, self.keys)

    async def person(self, role: str | None = "member", subject: UUID | None = None) -> UUID:
        """The console says what somebody may do: a new person, or anew of one."""
        who = subject or uuid4()
        self.versions[who] = self.versions.get(who, 0) + 1
        said = Standing(
            key_id=self.identity.key_id, audience="agent", subject=who, role=role, sessions_from=now(), version=self.versions[who],
            decided_at=now(),
        )  # fmt: skip
        async with self.db.transaction() as tx:
            await record_standing(tx, self.keys, "agent", self.identity.sign(said))
        return who

    def said_of(self, token: str, subject: UUID, **changed: Any) -> Signed:
        fields: dict[str, Any] = {
            "access_id": uuid4(),
            "kind": "apikey",
            "subject": subject,
            "person_name": "Ada",
            "name": "a key",
            "role": "owner",
            "token_hash": sha256(token.encode()),
            "made_by": "Operator",
            "issued_at": now(),
            "version": 1,
        }
        return self.identity.sign(Access(key_id=self.identity.key_id, **(fields | changed)))

    async def key_of(self, subject: UUID, **changed: Any) -> str:
        """A key that the agent was told of."""
        token = "schleuse_ak_" + new_token()
        await self.tell_access(self.said_of(token, subject, **changed))
        return token

    async def tell_access(self, signed: Signed) -> None:
        async with self.db.transaction() as tx:
            await record_access(tx, self.keys, signed)

    def delegation(self, owner: Owner, **changed: Any) -> Signed:
        fields: dict[str, Any] = {
            "delegation_id": uuid4(),
            "owner": owner,
            "audience": "agent",
            "operations": ("llm.chat",),
            "issued_at": now(),
            "expires_at": now() + timedelta(hours=12),
        }
        return self.identity.sign(Delegation(key_id=self.identity.key_id, **(fields | changed)))

    async def delegate(self, signed: Signed) -> None:
        async with self.db.transaction() as tx:
            await record_delegation(tx, self.keys, signed)

    def setting(
        self, name: str, subject: str, value: str, prior: int, by: SigningKey | None = None, **said: Any
    ) -> SettingDecided:
        """A person's word, signed as the console does."""
        key, who = by or self.decision, opening(**said)
        statement = AgentSetting(
            key_id=key.key_id, name=name, subject=subject, value=value, decided_at=now(), decider=who.commitment, prior_version=prior
        )  # fmt: skip
        return SettingDecided(statement=key.sign(statement), opening=who)

    async def decide(self, data: SettingDecided) -> dict[str, Any]:
        """What the agent says of it."""
        event = received("setting.decided", data)
        async with self.db.transaction() as tx:
            await record_setting(tx, event, Deciders(self.keys), self.settings, self.keys)
        await self.settings.catch_up()
        rows = await self.rows(
            "SELECT body FROM app.outbox WHERE name = 'setting.applied' ORDER BY position DESC LIMIT 1"
        )
        found: dict[str, Any] = json.loads(rows[0]["body"])["data"]
        return found

    async def prior(self, name: str, subject: str) -> int:
        """How often it was set."""
        rows = await self.rows(
            "SELECT count(*) AS n FROM core.statements WHERE subject = $1", f"setting:{name}:{subject}"
        )
        return int(rows[0]["n"])

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.db.reading() as tx:
            return [dict(row.items()) for row in await tx.raw.fetch(sql, *values)]


@asynccontextmanager
async def owner_office(servers: Servers) -> AsyncIterator[OwnerOffice]:
    settings, console = servers.settings("agent"), servers.settings("console")
    db = Database(settings, pool_size=4)
    await db.start()
    if servers.state not in _MADE:
        await create_missing(db, app)
        _MADE.add(servers.state)
    keys = PublicKeys.load(settings.public_keys)
    kept = AgentSettings(db, keys, Notices(db, several=False), Health("agent"))
    await kept.catch_up()
    identity, decision = (SigningKey.load(console.keys / f"{each}.key") for each in ("identity", "decision"))
    yield OwnerOffice(db, keys, identity, decision, kept)
    async with db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await db.stop()
