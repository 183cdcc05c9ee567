"""Downloads of people: registering, listing, taking back, and finding what a request may fetch. Guests have none (rule 22)."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from schemas.outward import Owner
from services.agent.downloads import store
from services.agent.downloads.domain import (
    PAGES,
    Link,
    Opened,
    Opening,
    Registered,
    check_life,
    mailed_path,
    missing,
    own_path,
)
from services.agent.downloads.links import LinkKeys
from services.agent.downloads.serving import close
from services.agent.downloads.spool import Spool
from services.agent.downloads.usecases.register_download import hash_of, register_download
from services.agent.downloads.usecases.revoke_download import revoke_download
from services.agent.memory import beneath
from services.agent.memory import store as marks
from services.agent.memory.domain import check_path, named
from services.agent.owners.domain import Me
from services.agent.owners.still import StillThere
from shared.clock import now
from shared.db import Database
from shared.errors import Forbidden, Refused
from shared.ids import new_token


class Downloads:
    """`url`: the workspace's address. `still`: whether somebody may still come in; a link outlives no person."""

    def __init__(self, db: Database, files: Opening, keys: LinkKeys, still: StillThere, url: str, spool: Spool) -> None:
        self._db, self._files, self._keys, self._still = db, files, keys, still
        self._url, self._spool = url, spool

    async def register(
        self, me: Me, path: str, *, life: timedelta | None = None, by_mail: bool = False, name: str = ""
    ) -> Link:
        """A link to a file of one's own workspace. `by_mail`: for whoever has it, without signing in; it is told this once. `name`: what it is called
        for whoever fetches it. NotFound, Refused, TooMany."""
        lasting = check_life(life, by_mail=by_mail)
        if me.is_guest:
            raise Forbidden("Nothing of a guest is kept, so there is nothing to download. Sign in.", code="guest")
        version = await self._version(me.owner, path)
        token = new_token() if by_mail else ""
        async with self._db.owned(me.owner) as tx:
            made = await register_download(tx, me, path, lasting, token, name, version)
            where = (
                self._keys.link(token, made.name, made.expires_at) if token else own_path(made.download_id, made.name)
            )
        return self._link(made, where)

    async def digest(self, me: Me, path: str) -> str:
        """Lower-case hex SHA-256 of what lies there now. NotFound."""
        if me.is_guest:
            raise missing()
        opened = await self._files.open(me.owner, path)
        try:
            return await asyncio.to_thread(beneath.digest, opened.descriptor)
        finally:
            close(opened)

    async def list(self, me: Me) -> Sequence[Link]:
        """One's own that have not expired, the newest first. Of those for whoever has them the address is not known any more: it leads nowhere."""
        if me.is_guest:
            return ()
        async with self._db.owned(me.owner) as tx:
            found = await store.listed(tx, me.owner, now())
        return [self._link(each, "" if each.by_mail else own_path(each.download_id, each.name)) for each in found]

    async def names_from_outside(self, me: Me) -> tuple[str, ...]:
        """Files with links whose names, as what stands in them, came from outside (S11)."""
        async with self._db.owned(me.owner) as tx:
            found, marked = await store.listed(tx, me.owner, now()), await marks.marked_paths(tx, me.owner)
        paths = dict.fromkeys("/".join(check_path(each.path)) for each in found)
        return tuple(f"name of the file {named(each)}" for each in paths if each in marked)

    async def revoke(self, me: Me, download_id: UUID) -> None:
        """At once, also for whoever has the link. NotFound."""
        if me.is_guest:
            raise missing()
        async with self._db.owned(me.owner) as tx:
            await revoke_download(tx, me, download_id)
        await asyncio.to_thread(self._spool.remove, download_id)

    async def own(self, me: Me, rest: str) -> tuple[Registered, Opened]:
        """What follows `/downloads/`, as its owner asks for it. NotFound, in the same words for whatever is wrong; nothing else is read."""
        first, _, name = rest.partition("/")
        download_id = _uuid(first)
        if download_id is None or me.is_guest:
            raise missing()
        return await self._fetched(me.owner, download_id, name, by_mail=False)

    async def mailed(self, rest: str, query: Mapping[str, str]) -> tuple[Registered, Opened]:
        """What follows `/d/`, as anybody may ask who has the link. NotFound."""
        token, _, name = rest.partition("/")
        if not self._keys.holds(mailed_path(token, name), query, now()):
            raise missing()
        async with self._db.reading() as tx:
            place = await store.place_of(tx, hash_of(token))
        if place is None or not await self._is_there(place[0]):
            raise missing()
        return await self._fetched(*place, name, by_mail=True)

    async def _fetched(self, owner: Owner, download_id: UUID, name: str, *, by_mail: bool) -> tuple[Registered, Opened]:
        async with self._db.owned(owner) as tx:
            found = await store.find(tx, owner, download_id, now())
        if found is None or found.name != name or found.by_mail != by_mail:
            raise missing()
        opened = await self._files.open(owner, found.path)
        if (
            found.version and found.version != opened.version
        ):  # what was written into it later, nobody decided to give away (S11)
            close(opened)
            raise missing()
        return found, opened

    async def _version(self, owner: Owner, path: str) -> str:
        """NotFound when it cannot be fetched."""
        opened = await self._files.open(owner, path)
        close(opened)
        return opened.version

    async def _is_there(self, owner: Owner) -> bool:
        try:
            await self._still(Me(owner, "", "viewer"), now())
        except Refused:
            return False
        return True

    def _link(self, made: Registered, where: str) -> Link:
        return Link(self._url + (where or PAGES), made.expires_at, made.name, made.download_id, made.by_mail)


def _uuid(text: str) -> UUID | None:
    """Only as we write it: an address has one spelling."""
    try:
        found = UUID(text)
    except ValueError:
        return None
    return found if str(found) == text else None
