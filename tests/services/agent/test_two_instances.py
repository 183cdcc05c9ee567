"""Two instances of the agent behind one port: a guest is known by one of them, and meets either."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from shared.db import Database
from shared.testing.servers import Servers
from tests.factories.identity import sign_in
from tests.factories.workspace import Living, events, free_port, headers, living, say


@pytest.fixture
async def two(servers: Servers, tmp_path: Path) -> AsyncIterator[tuple[Living, Living]]:
    state = tmp_path / "state"
    settings = servers.settings("agent").model_copy(update={"cluster": True, "state": state})
    for number in (1, 2):
        settings.model_copy(update={"instance": number}).run.mkdir(parents=True)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(living(servers, tmp_path, settings))
        db = Database(servers.settings("agent"), pool_size=4)
        await db.start()
        stack.push_async_callback(db.stop)
        second = Living(db, free_port(), tmp_path, settings.model_copy(update={"instance": 2}), first.url)
        await second.start()
        stack.push_async_callback(second.stop)
        yield first, second


async def test_a_guest_meets_either_instance_and_is_known(two: tuple[Living, Living]) -> None:
    first, second = two
    assert oct((second.web.passing._path).stat().st_mode)[-3:] == "600"
    async with first.browser() as here:
        found = (await say(here, "say hello")).json()
        cookies = dict(here.cookies)
    assert cookies["agent_guest"].startswith("agent.") and len(first.visits) == 1
    async with second.browser(cookies=cookies) as there:
        assert "hello" in (await there.get(f"/c/{found['conversation_id']}")).text
        again = await say(there, "say again", found["conversation_id"])
        assert again.status_code == 200 and again.json()["reply"] == "again"
        foreign = {**await headers(there), "Origin": "https://evil.test"}
        assert (await there.post("/api/v1/turns", json={"text": "x"}, headers=foreign)).status_code == 403
        slow = (await say(there, "slowly 20", found["conversation_id"], wait=False)).json()
        async with there.stream("GET", f"/live?c={found['conversation_id']}") as answer:
            async for _, kind, data in events(answer):
                if kind == "text" and "word5" in data["text"]:
                    break
        assert first.visits.find(cookies["agent_guest"]) is not None
        async with asyncio.timeout(3):
            while next(iter(first.visits._by_owner.values())).streams:
                await asyncio.sleep(0.02)
        first.says.go.set()
        assert (await there.get(f"/api/v1/turns/{slow['turn_id']}", params={"wait": True})).json()["state"] in (
            "ok",
            "aborted",
        )
    assert len(second.visits) == 0


async def test_a_guest_of_an_instance_that_is_gone_begins_anew(two: tuple[Living, Living]) -> None:
    first, second = two
    async with second.browser() as there:
        found = (await say(there, "say hello")).json()
        cookies = dict(there.cookies)
    await second.web.passing.stop()
    async with first.browser(cookies=cookies) as here:
        assert (await here.get(f"/c/{found['conversation_id']}")).status_code == 404
        fresh = await say(here, "say fresh")
        assert fresh.json()["reply"] == "fresh" and "agent_guest=agent." in fresh.headers["set-cookie"]


async def test_who_has_signed_in_is_known_by_both_and_passed_on_by_neither(two: tuple[Living, Living]) -> None:
    first, second = two
    async with first.browser() as here:
        await say(here, "say hello")
        await sign_in(here, first.people)
        cookies = {each.name: str(each.value) for each in here.cookies.jar}
    second.people.seed = first.people.seed
    async with second.browser(cookies={"agent_guest": cookies["agent_guest"], "agent": cookies["agent"]}) as there:
        assert (await there.get("/api/v1/me")).json()["kind"] == "user"
