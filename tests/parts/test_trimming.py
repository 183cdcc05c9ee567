"""Streams keep what somebody has still to read, and nothing else for long."""

import asyncio
from uuid import uuid4

from nats.js import JetStreamContext

from infra.nats.provision import connect
from infra.nats.trim import Trimmer
from shared.testing.servers import Servers
from tests.parts.lock import Nothing, member, running_lock, stage_applied


async def left(js: JetStreamContext, stream: str) -> int:
    return (await js.stream_info(stream)).state.messages


async def test_what_all_readers_have_acknowledged_goes_and_the_rest_stays(servers: Servers) -> None:
    layout, port = servers.layout, servers.prepared.config.ports["nats"]
    admin = await connect(port, layout.tls / "ca.pem", layout.admin_seed, "admin")
    try:
        js = admin.jetstream()
        async with running_lock(servers) as lock:
            key = f"trim-{uuid4()}"
            await lock.stage(key, range(1, 51))
            await lock.until(key, 50)
            trimmer = Trimmer()
            async with asyncio.timeout(20):
                while await left(js, "FROM_SITE") or await left(js, "TO_CONSOLE"):
                    await trimmer.round(js)
                    await asyncio.sleep(0.05)
        await unread_events_stay(servers, js)
    finally:
        await admin.close()


async def unread_events_stay(servers: Servers, js: JetStreamContext) -> None:
    """Nobody reads at the bridge: no round may take anything."""
    site = await member(servers, "site", Nothing())
    async with site.db.transaction() as tx:
        for version in range(1, 31):
            stage_applied(tx, f"unread-{version}-{uuid4()}", 1)
    async with asyncio.timeout(20):
        while await left(js, "FROM_SITE") < 30:
            await asyncio.sleep(0.02)
    trimmer = Trimmer()
    for _ in range(3):
        assert await trimmer.round(js) == 0
    assert await left(js, "FROM_SITE") == 30
    await site.stop()
    async with running_lock(servers), asyncio.timeout(20):
        while await left(js, "FROM_SITE"):
            await trimmer.round(js)
            await asyncio.sleep(0.05)
