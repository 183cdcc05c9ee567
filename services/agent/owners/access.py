"""Keys of the API: whose each is, and how able it is. Looked up at every request, so that one that is taken back opens nothing any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args
from uuid import UUID

from asyncpg import Record

from schemas.agency import Access
from schemas.model import Role
from schemas.statements import Signed
from services.agent.owners import store
from shared.clock import now
from shared.db import Database
from shared.errors import BadSignature
from shared.identity.sessions import hash_token
from shared.signing import PublicKeys

PREFIXES = ("schleuse_ak_", "schleuse_at_")
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Key:
    """A key that is good. `role`: the narrower of the key's and its person's."""

    token_hash: str
    subject: UUID
    person_name: str
    role: Role
    ends_at: datetime | None


class AccessKeys:
    """`restored_at`: keys from before a restore open nothing; one that was revoked since the backup would open again."""

    def __init__(self, db: Database, keys: PublicKeys, restored_at: datetime | None = None) -> None:
        self._db, self._keys, self._restored_at = db, keys, restored_at

    async def find(self, token: str) -> Key | None:
        """None for one that is unknown, over, taken back, or of somebody who is shut out."""
        if not token.startswith(PREFIXES) or not token.isascii():
            return None
        token_hash = hash_token(token)
        return (await self.good([token_hash])).get(token_hash)

    async def good(self, token_hashes: Sequence[str]) -> dict[str, Key]:
        """Those of these that are good now, by their hashes."""
        async with self._db.reading() as tx:
            rows = await store.access_of(tx, token_hashes)
        found = (self._read(row, now()) for row in rows)
        return {key.token_hash: key for key in found if key is not None}

    async def is_good(self, access_id: UUID) -> bool:
        """Whether the key of this id opens anything."""
        async with self._db.reading() as tx:
            token_hash = await store.token_of(tx, access_id)
        return token_hash is not None and bool(await self.good([token_hash]))

    def _read(self, row: Record, at: datetime) -> Key | None:
        """By what was signed; a row that says otherwise is not believed."""
        signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
        try:
            access = self._keys.verify("identity", signed, Access)
        except BadSignature:
            return None
        same = (access.token_hash, access.subject) == (row["token_hash"], row["subject"])
        over = access.revoked or (access.expires_at is not None and access.expires_at <= at)
        over = over or (self._restored_at is not None and access.issued_at < self._restored_at)
        if not same or over or row["standing"] not in ROLES:
            return None
        role = max(access.role, row["standing"], key=ROLES.index)
        return Key(access.token_hash, access.subject, access.person_name, role, access.expires_at)
