"""What is kept of a person: all of it can be taken away and deleted, and nothing of anybody else."""

import io
import json
import zipfile
from collections.abc import AsyncIterator

import pytest

from schemas.outward import Owner
from services.agent.belongings.domain import STAYS
from services.agent.belongings.parts import all_holdings
from services.agent.belongings.usecases.export_all import export_all
from services.agent.belongings.usecases.forget_all import forget_all
from services.agent.conversations.domain import TurnRecord
from services.agent.conversations.holding import ConversationsHolding
from services.agent.conversations.kept import KeptConversations
from services.agent.owners.domain import Me
from services.agent.tables import CORE_GRANTS, CORE_OWNED, app, core
from shared.clock import now
from shared.db import Database, create_missing
from shared.ids import fresh_id
from shared.testing.servers import Servers


@pytest.fixture(scope="module")
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), pool_size=3)
    await found.start()
    await create_missing(found, app)
    yield found
    await found.stop()


async def talk(kept: KeptConversations, me: Me, title: str) -> None:
    chat = (await kept.open(me, None)).conversation_id
    turn = fresh_id()
    await kept.begin(me, chat, turn, f"about {title}", "chat")
    await kept.start(me, chat, turn)
    await kept.end(me, TurnRecord(turn, chat, "chat", "built-in", f"about {title}", now(), reply="Yes."))
    await kept.rename(me, chat, title)


async def test_all_of_ones_own_is_exported_and_deleted_and_nothing_of_others(db: Database) -> None:
    me, other = (Me(Owner(kind="user", id=str(fresh_id())), name, "member") for name in ("Kim", "Lu"))
    kept = KeptConversations(db)
    holdings = all_holdings(db, core, CORE_OWNED, CORE_GRANTS, [ConversationsHolding(db, kept)])
    for who, title in ((me, "Müller / 2026"), (me, ""), (other, "secret")):
        await talk(kept, who, title)
    async with db.owned(me.owner) as tx:
        await tx.raw.execute("INSERT INTO core.profiles (owner_kind, owner_id, zone, zone_at) VALUES ('user', $1, 'Asia/Tokyo', now())", me.owner.id)  # fmt: skip

    async def exported(who: Me) -> dict[str, str]:
        packed = b"".join([piece async for piece in export_all(holdings, who.owner, now())])
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            return {name: archive.read(name).decode() for name in archive.namelist()}

    found = await exported(me)
    assert "secret" not in str(found) and "Asia/Tokyo" in found["profiles.json"]
    talks = sorted(name for name in found if name.startswith("conversations/"))
    assert len(talks) == 2 and "-müller-2026-" in talks[0]
    assert [each["text"] for each in json.loads(found[talks[0]])["messages"]] == ["about Müller / 2026", "Yes."]
    assert len(json.loads(found["turns.json"])) == 2
    assert await forget_all(holdings, me.owner) == {"conversations": 2, "all else": 1}
    left = await exported(me)
    assert list(left) == ["READ-ME.txt", "turns.json"] and "Müller" not in left["turns.json"]
    assert len([name for name in await exported(other) if name.startswith("conversations/")]) == 1


def test_every_owned_table_can_be_deleted_or_is_said_to_stay() -> None:
    """A new table of somebody's words must be one that its owner can have deleted."""
    undeletable = {name for name in CORE_OWNED if not CORE_GRANTS[name].get("delete")}
    assert undeletable - {"turns"} <= set(STAYS), "say in STAYS why it stays, or grant delete"
    assert set(STAYS) <= CORE_OWNED


async def test_a_long_file_is_packed_in_pieces() -> None:
    """What comes under the same path is one file of the ZIP, and its pieces leave as they come."""

    class Pieces:
        name, tables = "pieces", frozenset[str]()

        async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
            for piece in (b"one ", b"two ", b"three"):
                yield "a.txt", piece
            yield "b.txt", b""

        async def forget(self, owner: Owner) -> int:
            return 0

    raw = b"".join([each async for each in export_all([Pieces()], Owner(kind="user", id="7"), now())])
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert archive.namelist() == ["READ-ME.txt", "a.txt", "b.txt"] and archive.testzip() is None
        assert archive.read("a.txt") == b"one two three" and archive.read("b.txt") == b""
