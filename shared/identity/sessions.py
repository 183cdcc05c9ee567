"""Sessions at a surface: begun by a token or an invitation, asked about at every request, ended by the console or here.

All of it lies in the database, so that several instances of a service know the same.
"""

import hashlib
from datetime import datetime, timedelta

from shared.clock import now
from shared.db import Database, Tx
from shared.errors import Forbidden
from shared.identity import store
from shared.identity.store import Found
from shared.identity.token import Claims, TokenReader, nonce_of
from shared.ids import new_token

RENEW = timedelta(minutes=10)
"""The console vouches anew after this time, in case its word did not come."""
LONGEST = timedelta(hours=12)
CODE_LIFE = timedelta(seconds=60)


def hash_token(token: str) -> str:
    """How sessions, codes and links are stored. They are 256 random bits, so a plain SHA-256 is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class Sessions:
    """The sessions of one surface."""

    def __init__(self, db: Database, reader: TokenReader) -> None:
        self._db, self._reader = db, reader

    async def find(self, cookie: str) -> Found | None:
        """Whose cookie this is. None when the session is over; it may be due for renewal (`is_fresh`)."""
        if not cookie:
            return None
        async with self._db.reading() as tx:
            return (await store.find(tx, [hash_token(cookie)], now())).get(hash_token(cookie))

    async def offer(self, token: str, place: str) -> str:
        """Keep a token for the browser that asked for it; the code that it comes back with. Forbidden for a bad one."""
        self._reader.read(token)  # strangers must not fill the table
        code = new_token()
        async with self._db.transaction() as tx:
            await store.keep_code(tx, hash_token(code), token, place, now())
        return code

    async def begin(self, code: str, pre_cookie: str, old_cookie: str = "") -> tuple[str, Found, str]:
        """Exchange a code for a session: its cookie, the session, and where to go. Forbidden when anything is not right.

        The session replaces the one of `old_cookie`, and ends no later than that would have.
        """
        async with self._db.transaction() as tx:
            kept = await store.take_code(tx, hash_token(code), now() - CODE_LIFE)
            if kept is None:
                raise Forbidden("The sign-in was refused: it was used already, or is too old.", code="code")
            claims = self._reader.read(kept[0])
            if not pre_cookie or claims.nonce != nonce_of(pre_cookie):
                raise Forbidden("The sign-in was refused: another browser asked for it.", code="nonce")
            role = await _role(tx, claims)
            cookie, found = await self._put(tx, claims, role, old_cookie)
        return cookie, found, kept[1]

    async def _put(self, tx: Tx, claims: Claims, role: str, old_cookie: str) -> tuple[str, Found]:
        at, old_hash = now(), hash_token(old_cookie)
        old = (await store.find(tx, [old_hash], at)).get(old_hash) if old_cookie else None
        await store.end(tx, old_hash)
        ends = old.ends_at if old and old.subject == claims.subject else at + LONGEST
        cookie = new_token()
        found = Found(
            hash_token(cookie),
            claims.subject,
            claims.sid,
            claims.name,
            role,
            claims.issued_at,
            min(at + RENEW, ends),
            ends,
        )
        await store.begin(tx, found)
        return cookie, found

    async def accept(self, link: str) -> tuple[str, Found] | None:
        """Use an invitation: cookie and session of its guest. None when it is unknown, used, revoked or over."""
        at = now()
        async with self._db.transaction() as tx:
            taken = await store.take_link(tx, hash_token(link), at)
            if taken is None:
                return None
            subject, until = taken
            cookie = new_token()
            found = Found(hash_token(cookie), subject, None, "", "guest", at, until, until)
            await store.begin(tx, found)
        return cookie, found

    async def end(self, cookie: str) -> None:
        """Sign out in this browser."""
        async with self._db.transaction() as tx:
            await store.end(tx, hash_token(cookie))


def is_fresh(found: Found, at: datetime | None = None) -> bool:
    """Whether the console has vouched for it in the last ten minutes."""
    return (at or now()) < found.renew_at


async def _role(tx: Tx, claims: Claims) -> str:
    """What the bearer of a token may do now. Forbidden when it was used before, or the console has taken its word back."""
    if not await store.use_token(tx, claims.jti, now()):
        raise Forbidden("The sign-in was refused: its token was used already.", code="replayed")
    if await store.is_ended(tx, claims.sid):
        raise Forbidden("The sign-in was refused: you have signed out at the console since.", code="ended")
    row = await store.standing(tx, claims.subject)
    if row is None:
        return claims.role
    over = row["until"] is not None and row["until"] <= now()
    if row["role"] is None or over or claims.issued_at < row["sessions_from"]:
        raise Forbidden("The sign-in was refused: the console has ended it.", code="ended")
    return str(row["role"]) if row["decided_at"] > claims.issued_at else claims.role
