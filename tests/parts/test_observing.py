"""Looking at real servers: what is not there is unknown, and a chain that somebody touched is broken."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from infra.local.layout import Layout
from infra.observe.crew import Crew
from infra.observe.doing.pulse import Chain
from infra.observe.grants.take import take
from infra.observe.installation import Installation
from infra.observe.report_files import TOP, report_folder
from infra.observe.top.sample import Sampler
from infra.observe.writer import Writer, is_due
from infra.postgres.settings import SUPERUSER
from schemas.text import sha256
from shared.testing.servers import Servers

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
MADE = """CREATE TEMP TABLE chain (seq bigint PRIMARY KEY, entry bytea NOT NULL, hash text NOT NULL, previous text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp())"""


@pytest.fixture
async def server(servers: Servers) -> AsyncIterator[asyncpg.Connection]:
    found = await asyncpg.connect(host=str(servers.layout.pg_socket_dir), user=SUPERUSER, database="postgres")
    await found.execute(MADE)
    yield found
    await found.execute("DROP TABLE chain")
    await found.close()


async def grow(server: asyncpg.Connection, count: int) -> None:
    newest = await server.fetchrow("SELECT seq, hash FROM chain ORDER BY seq DESC LIMIT 1")
    seq, head = (newest[0], newest[1]) if newest else (-1, "0" * 64)
    for number in range(seq + 1, seq + 1 + count):
        entry = f"entry {number} after {head}".encode()
        await server.execute(
            "INSERT INTO chain (seq, entry, hash, previous) VALUES ($1, $2, $3, $4)", number, entry, sha256(entry), head
        )
        head = sha256(entry)


async def look(chain: Chain, server: asyncpg.Connection) -> tuple[Any, Any]:
    found = await chain.look(server, "pg_temp.chain", "at")
    return found["seq"], found["whole"]


async def test_a_chain_is_whole_as_it_grows(server: asyncpg.Connection) -> None:
    chain = Chain()
    assert await look(chain, server) == (None, True)
    await grow(server, 5)
    assert await look(chain, server) == (4, True)
    await grow(server, 3)
    assert await look(chain, server) == (7, True)


TOUCHED = {
    "another content": "UPDATE chain SET entry = 'forged' WHERE seq = 2",
    "an entry taken out": "DELETE FROM chain WHERE seq = 2",
    "another predecessor": "UPDATE chain SET previous = hash WHERE seq = 2",
    "the first ones taken out": "DELETE FROM chain WHERE seq < 2",
}


@pytest.mark.parametrize("how", TOUCHED)
async def test_a_chain_that_somebody_touched_is_broken(server: asyncpg.Connection, how: str) -> None:
    await grow(server, 5)
    await server.execute(TOUCHED[how])
    assert await look(Chain(), server) == (4, False)


async def test_a_tail_that_was_cut_off_is_missed(server: asyncpg.Connection) -> None:
    chain = Chain()
    await grow(server, 5)
    await look(chain, server)
    await server.execute("DELETE FROM chain WHERE seq > 2")
    assert await look(chain, server) == (2, False)


async def test_servers_are_seen_and_a_missing_supervisor_is_said(servers: Servers) -> None:
    made = servers.prepared
    sampler = Sampler(made.layout, made.config, Crew(made.who, made.runtime), 1.0)
    try:
        found = await sampler.sample()
    finally:
        await sampler.close()
    assert found["parts"] == {}
    assert found["postgres"]["limit"] == 130 and found["postgres"]["sizes"]["site_db"] > 0
    assert {each["name"] for each in found["streams"]} >= {"FROM_SITE", "TO_SITE"}
    assert found["problems"][0]["text"] == "the supervisor does not answer"


async def test_where_nothing_is_nothing_is_known(servers: Servers, tmp_path: Any) -> None:
    """The same looking, in a folder where nobody listens, and at a bus with another certificate."""
    made = servers.prepared
    (tmp_path / "tls").mkdir()
    sampler = Sampler(Layout(tmp_path), made.config, Crew(made.who, made.runtime), 1.0)
    try:
        async with asyncio.timeout(30):
            found = await sampler.sample()
    finally:
        await sampler.close()
    assert (found["streams"], found["readers"], found["postgres"]["used"], found["audit"]) == (None, None, None, None)
    assert found["gate"]["behind"] is None and found["backup_age"] is None


async def test_reports_are_for_the_consoles_group_alone(servers: Servers) -> None:
    stopping = asyncio.Event()
    folder = report_folder(servers.layout)
    writing = asyncio.create_task(Writer(servers.layout).run(stopping))
    try:
        async with asyncio.timeout(30):
            while not (folder / TOP).exists():
                await asyncio.sleep(0.1)
    finally:
        stopping.set()
        await writing
    console = servers.prepared.who.gids["console"]
    found = [(stat.S_IMODE(path.stat().st_mode), path.stat().st_gid) for path in (folder, folder / TOP)]
    assert found == [(0o750, console), (0o640, console)]
    assert json.loads((folder / TOP).read_text())["problems"]


DUE = {
    "not yet ready": (False, {"since": None, "asked": False, "ready": False, "running": 5.0}),
    "ready": (True, {"since": None, "asked": False, "ready": True, "running": 5.0}),
    "never ready": (True, {"since": None, "asked": False, "ready": False, "running": 61.0}),
    "just taken": (False, {"since": 60.0, "asked": False, "ready": True, "running": 90.0}),
    "asked": (True, {"since": 60.0, "asked": True, "ready": True, "running": 90.0}),
    "asked again at once": (False, {"since": 3.0, "asked": True, "ready": True, "running": 90.0}),
    "ten minutes later": (True, {"since": 601.0, "asked": False, "ready": True, "running": 900.0}),
}


@pytest.mark.parametrize("when", DUE)
def test_an_inventory_is_taken_when_it_is_due(when: str) -> None:
    expected, given = DUE[when]
    assert is_due(**given) is expected  # type: ignore[arg-type]


async def test_one_os_user_for_everything_is_open_and_neither_right_nor_a_difference(servers: Servers) -> None:
    made = servers.prepared
    here = Installation(made.layout, made.config, made.who, made.runtime)
    lines = await take(here, ["users"])
    await here.close()
    assert [each.what for each in lines] == ["OS users", "leaving this machine"]
    assert {(line.state, line.is_right, line.differs) for line in lines} == {("open", False, False)}
