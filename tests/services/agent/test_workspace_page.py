"""The workspace's front door: guests, people who have signed in, and streams that end with their session."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2 as httpx
import pytest

from shared.clock import now
from shared.testing.servers import Servers
from tests.factories.identity import hand_over, nonce_for, sign_in
from tests.factories.workspace import Living, living


@pytest.fixture
async def workspace(servers: Servers, tmp_path: Path) -> AsyncIterator[Living]:
    async with living(servers, tmp_path) as found:
        yield found


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/chat", 404),
        ("/c/x", 404),
        ("/c/00000000-0000-4000-8000-000000000000", 404),
        ("/static/base.css", 200),
        ("/static/../pages.py", 404),
        ("/live", 401),
    ],
)
async def test_the_workspace_has_its_shell_and_nothing_else(workspace: Living, path: str, status: int) -> None:
    async with workspace.browser() as client:
        answer = await client.get(path)
        assert answer.status_code == status
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert (await client.get(path, headers={"host": "localhost:1"})).status_code == 421
        assert (await client.post(path, headers={"origin": "http://evil.test"})).status_code == 403


async def test_whoever_has_not_signed_in_is_a_guest(workspace: Living) -> None:
    async with workspace.browser() as client:
        page = await client.get("/")
        assert "You are a guest. Nothing here is kept." in page.text and 'href="/sign-in"' in page.text
        assert "set-cookie" not in page.headers and len(workspace.visits) == 0
        await sign_in(client, workspace.people, role="guest", name="Visiting")
        assert "You are a guest. Nothing here is kept." in (await client.get("/")).text


@pytest.mark.parametrize("role", ["owner", "member", "viewer"])
async def test_a_signed_in_person_sees_name_and_role(workspace: Living, role: str) -> None:
    async with workspace.browser() as client:
        await sign_in(client, workspace.people, role=role, name="Ada <b>Owner")
        page = await client.get("/")
        assert f"<b>Ada &lt;b&gt;Owner</b> · {role}</span>" in page.text
        assert "guest" not in page.text.lower() and page.headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize("changed", [{"aud": "site"}, {"at": now() - timedelta(seconds=61)}, {"nonce": "f" * 64}])
async def test_a_token_that_is_not_for_here_lets_nobody_in(workspace: Living, changed: dict[str, Any]) -> None:
    async with workspace.browser() as client:
        token = workspace.people.token(**({"nonce": await nonce_for(client)} | changed))
        answer = await hand_over(client, token)
        assert answer.status_code == 403 and "Sign in again" in answer.text
        assert "You are a guest" in (await client.get("/")).text


async def test_a_token_works_once(workspace: Living) -> None:
    async with workspace.browser() as client:
        token = workspace.people.token(await nonce_for(client))
        assert (await hand_over(client, token)).status_code == 303
        assert (await hand_over(client, token)).status_code == 403
        assert (await hand_over(client, token, origin="http://127.0.0.1:9301")).status_code == 403


async def test_a_page_is_renewed_through_the_console_and_a_cookie_that_is_over_is_taken_back(workspace: Living) -> None:
    async with workspace.browser() as client:
        await sign_in(client, workspace.people)
        await workspace.sql("UPDATE app.identity_sessions SET renew_at = clock_timestamp()")
        assert (await client.get("/")).headers["location"] == "/sign-in?next=%2F"
        assert (await client.get("/live")).status_code == 401
        await workspace.sql("UPDATE app.identity_sessions SET ends_at = clock_timestamp()")
        page = await client.get("/")
        assert "You are a guest" in page.text and 'agent=""; ' in page.headers["set-cookie"]


async def test_signing_out_takes_the_pages_own_form(workspace: Living) -> None:
    async with workspace.browser() as client:
        await sign_in(client, workspace.people)
        found = re.search(r'name="token" value="(\w+)"', (await client.get("/")).text)
        assert found
        headers = {"origin": workspace.url}
        assert (await client.post("/sign-out", data={"token": "x"}, headers=headers)).status_code == 403
        assert (await client.post("/sign-out", data={"token": found[1]}, headers=headers)).status_code == 303
        assert "You are a guest" in (await client.get("/")).text


class TestStreams:
    """S8: an open stream ends within a second of whatever ended its session."""

    async def test_each_end_of_a_session_ends_its_stream(self, workspace: Living) -> None:
        subject, sid = uuid4(), uuid4()
        since = now() - timedelta(minutes=1)
        people, intake = workspace.people, workspace.intake
        ends: dict[str, Any] = {
            "signed out at the console": lambda: workspace.hear(intake.on_session_closed, people.ending(sid)),
            "shut out": lambda: workspace.hear(intake.on_person_recorded, people.standing(subject, None)),
            "signed out everywhere": lambda: workspace.hear(intake.on_person_recorded, people.standing(subject, "member")),
            "another role": lambda: workspace.hear(
                intake.on_person_recorded, people.standing(subject, "viewer", sessions_from=since, decided_at=now() + timedelta(seconds=2))
            ),
            "ten minutes are over": lambda: workspace.sql("UPDATE app.identity_sessions SET renew_at = clock_timestamp()"),
            "signed out here": lambda: workspace.sql("DELETE FROM app.identity_sessions"),
        }  # fmt: skip
        for name, end in ends.items():
            subject, sid = uuid4(), uuid4()
            async with workspace.browser() as client:
                await sign_in(client, people, sub=subject, sid=sid)
                seconds = await self._seconds_until_the_end(client, end)
                assert seconds < 1, f"{name}: {seconds:.2f} s"

    async def _seconds_until_the_end(self, client: httpx.AsyncClient, end: Any) -> float:
        async with client.stream("GET", "/live") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.aiter_lines()
            assert await anext(lines) == "retry: 1000"
            await end()
            began = time.monotonic()
            async with asyncio.timeout(5):
                assert "event: end" in [line async for line in lines]
        return time.monotonic() - began

    async def test_the_streams_of_others_go_on(self, workspace: Living) -> None:
        sid = uuid4()
        async with workspace.browser() as client, workspace.browser() as other:
            await sign_in(client, workspace.people, sid=sid)
            await sign_in(other, workspace.people)
            async with client.stream("GET", "/live") as mine, other.stream("GET", "/live") as theirs:
                lines = theirs.aiter_lines()
                await workspace.hear(workspace.intake.on_session_closed, workspace.people.ending(sid))
                assert "event: end" in [line async for line in mine.aiter_lines()]
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.6):
                        assert "event: end" not in [line async for line in lines]

    async def test_a_service_that_stops_is_not_held_up(self, workspace: Living) -> None:
        async with workspace.browser() as client:
            await sign_in(client, workspace.people)
            async with client.stream("GET", "/live") as answer:
                began = time.monotonic()
                stopping = asyncio.create_task(workspace.http.stop())
                assert "event: end" in [line async for line in answer.aiter_lines()]
                await stopping
        assert time.monotonic() - began < 2
