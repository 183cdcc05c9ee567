"""An agent's proposal reaches the queue over the real bus, and nothing that the agent can send decides it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from schemas.console.v1 import ItemDecided
from schemas.outward import Owner
from services.agent.domain import Draft
from services.agent.intake import AgentIntake
from services.agent.owners.domain import Me
from services.agent.owners.parts import make_owners
from services.agent.proposals import store as proposals
from services.agent.proposals.usecases.propose_publication import propose_publication
from services.agent.tables import app as agent_tables
from services.agent.tables import core as agent_core
from services.bridge import store
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.inspection import Inspector, Shelf
from services.bridge.intake import BridgeIntake
from services.bridge.main import DEFAULT_POLICIES
from services.bridge.tables import app as bridge_tables
from shared.bus.link import BusLink
from shared.bus.listen import Intake
from shared.bus.received import Reader
from shared.db import Database, create_missing
from shared.errors import BadSignature
from shared.health import Health
from shared.identity.doors import Surface
from shared.ids import fresh_id
from shared.lifecycle import Service
from shared.outbox.seal import Sealer
from shared.outbox.stage import Stamp
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers
from shared.testing.servers import running as start_servers
from tests.factories.fingerprints import Fixed
from tests.services.bridge.conftest import received
from tests.services.bridge.makes import Signer, opening, revision


@asynccontextmanager
async def running(
    servers: Servers, service: str, tables: Any, stamp: Stamp | None, declare: Any
) -> AsyncIterator[Database]:
    settings = servers.settings(service)
    db = Database(settings, stamp, pool_size=4)
    await db.start()
    await create_missing(db, tables)
    link = BusLink(settings, db, Health(service), Intake(declare(db)))
    await link.start()
    yield db
    await link.stop()
    await db.stop()


def agent_side(servers: Servers, db: Database) -> AgentIntake:
    settings = servers.settings("agent")
    service = Service(settings)
    service.database(agent_tables, agent_core)
    owners = make_owners(service, db, Surface("agent", settings.url, settings.urls["console"]))
    return AgentIntake(owners, lambda: None)


@asynccontextmanager
async def lock_and_agent(servers: Servers) -> AsyncIterator[tuple[Database, Database]]:
    keys = servers.settings("bridge").keys
    inspector = Inspector(Fixed())
    await inspector.start()
    public = PublicKeys.load(servers.settings("bridge").public_keys)
    gate = Gate(SigningKey.load(keys / "gate.key"))

    def lock(db: Database) -> BridgeIntake:
        shelf = Shelf(db, keys, Health("bridge"))
        witness = SigningKey.load(keys / "witness.key")
        return BridgeIntake(
            db,
            inspector,
            shelf,
            DecisionKeys(public),
            gate,
            public,
            witness,
            lambda: None,
            lambda: None,
            lambda: None,
        )

    sealed = Stamp("bridge", Sealer(SigningKey.load(keys / "envelope.key")))
    async with (
        running(servers, "bridge", bridge_tables, sealed, lock) as bridge,
        running(servers, "agent", agent_tables, None, lambda db: agent_side(servers, db)) as agent,
    ):
        async with bridge.transaction() as tx:
            await store.seed_policies(tx, DEFAULT_POLICIES)
        yield bridge, agent
    await inspector.stop()


@pytest.fixture
def own_servers() -> Iterator[Servers]:
    """Servers of its own: what is told to the console here has no reader, and would wait in a shared stream."""
    with start_servers() as found:
        yield found


async def test_a_proposal_reaches_the_queue(own_servers: Servers) -> None:
    async with lock_and_agent(own_servers) as (bridge, agent):
        me, chat = Me(Owner(kind="user", id=str(fresh_id())), "Kim", "owner"), fresh_id()
        async with agent.owned(me.owner) as tx:
            draft = Draft("doc", "en", "way-to-the-queue", "Water", "", "It rises.")
            item = (await propose_publication(tx, me, chat, draft, may_propose=True)).item_id
        async with asyncio.timeout(20):
            while True:
                async with bridge.reading() as tx:
                    row = await tx.raw.fetchrow("SELECT state FROM app.items WHERE item_id = $1", item)
                if row is not None:
                    break
                await asyncio.sleep(0.02)
        assert row["state"] == "submitted"
        async with bridge.reading() as tx:
            via = await tx.raw.fetchval("SELECT submitted_via FROM core.revisions WHERE item_id = $1", item)
        assert via == "agent"
        async with asyncio.timeout(20):
            while await state_of(agent, me) != "submitted":
                await asyncio.sleep(0.02)


async def state_of(agent: Database, me: Me) -> str:
    """What the agent knows of their newest proposal."""
    async with agent.owned(me.owner) as tx:
        [row] = await proposals.listed(tx, me.owner, 1)
    return str(row["state"])


async def test_the_agent_cannot_even_stage_a_decision(servers: Servers) -> None:
    of, who = revision(), opening()
    data = ItemDecided(
        item_id=of.item_id, statement=Signer(SigningKey(b"a" * 32)).decision(of, "approve", 1, who), opening=who
    )
    db = Database(servers.settings("agent"), pool_size=1)
    await db.start()
    with pytest.raises(LookupError, match="agent owns no event"):
        async with db.transaction() as tx:
            tx.stage("item.decided", data, key="k", version=1)
    await db.stop()


@pytest.mark.parametrize("source", ["agent", "console"])
def test_a_decision_that_comes_from_the_agent_is_parked_unread(source: str) -> None:
    of, who = revision(), opening()
    data = ItemDecided(
        item_id=of.item_id, statement=Signer(SigningKey(b"a" * 32)).decision(of, "approve", 1, who), opening=who
    )
    event = received("item.decided", data, source)
    with pytest.raises(BadSignature):
        Reader("bridge", None).read("from.agent.item.decided", {}, event.raw)
