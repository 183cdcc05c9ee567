"""Tasks and notifications over HTTP: pages that work without JavaScript, an API for programs, and toasts on live streams."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from schemas.outward import Owner
from services.agent.owners.domain import Me
from shared.clock import now
from shared.testing.servers import Servers
from tests.factories.identity import sign_in
from tests.factories.tasks import Worker
from tests.factories.workspace import Living, events, form_token, headers, living, say

PATIENCE = 60.0


@pytest.fixture(scope="module")
async def workspace(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Living]:
    async with living(servers, tmp_path_factory.mktemp("agent")) as found:
        yield found


@asynccontextmanager
async def person(workspace: Living, name: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with workspace.browser() as client:
        client.headers["x-test-owner"] = str(subject := uuid4())
        await sign_in(client, workspace.people, role="member", name=name, sub=subject)
        yield client


@pytest.fixture
async def ada(workspace: Living) -> AsyncIterator[httpx2.AsyncClient]:
    async with person(workspace, "Ada") as client:
        yield client


def owner_of(client: httpx2.AsyncClient) -> Owner:
    return Owner(kind="user", id=client.headers["x-test-owner"])


async def post(client: httpx2.AsyncClient, path: str, **fields: str) -> httpx2.Response:
    sent = {"token": await form_token(client, "/tasks")} | fields
    return await client.post(path, data=sent, headers={"Origin": str(client.base_url).rstrip("/")})


async def made(client: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    given = {"when": "every Sunday at 7", "text": "Water the plants"} | fields
    answer = await client.post("/api/v1/tasks", json=given, headers=await headers(client))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


class TestPages:
    async def test_a_task_from_first_to_last_by_forms(self, ada: httpx2.AsyncClient) -> None:
        answer = await post(ada, "/tasks", when="every Sunday at 7", text="Water <the> plants")
        assert answer.status_code == 303
        where = answer.headers["location"]
        page = (await ada.get(where)).text
        assert (
            "Understood: every Sunday at 07:00" in page and page.count("T0") >= 5 and "Water &lt;the&gt; plants" in page
        )
        one = where.split("?")[0]
        assert (await post(ada, one, when="at 8", title="Plants", zone="Asia/Calcutta", boxes="1")).status_code == 303
        page = (await ada.get(one)).text
        assert "every Sunday at 08:00" in page and "Asia/Calcutta" in page and "<h1>Plants</h1>" in page
        assert (await post(ada, f"{one}/pause", back="list")).headers["location"] == "/tasks"
        assert "paused" in (await ada.get("/tasks")).text
        assert (await post(ada, f"{one}/resume")).headers["location"] == one
        assert (await post(ada, f"{one}/delete")).headers["location"] == "/tasks"
        assert "Plants" not in (await ada.get("/tasks")).text and "Plants" in (await ada.get("/tasks?ended=1")).text
        refused = await post(ada, f"{one}/resume")
        assert refused.status_code == 422 and 'role="alert"' in refused.text

    async def test_what_is_not_understood_comes_back_with_a_hint(self, ada: httpx2.AsyncClient) -> None:
        answer = await post(ada, "/tasks", when="every blue moon", text="x")
        assert answer.status_code == 422 and "blue" in answer.text and 'value="every blue moon"' in answer.text
        task = await made(ada)
        answer = await post(ada, f"/tasks/{task['task_id']}", zone="UTC+3")
        assert answer.status_code == 422 and "Etc/GMT-3" in answer.text and 'value="UTC+3"' in answer.text
        assert (await post(ada, f"/tasks/{task['task_id']}", window_hours="soon")).status_code == 422

    async def test_only_a_form_of_ours_changes_anything(self, ada: httpx2.AsyncClient) -> None:
        one = f"/tasks/{(await made(ada))['task_id']}"
        for path in ("/tasks", one, f"{one}/pause", f"{one}/resume", f"{one}/delete", "/notifications/read"):
            sent = {"token": "x", "when": "in 5 minutes", "text": "x"}
            assert (await ada.post(path, data=sent, headers={"Origin": str(ada.base_url)})).status_code == 403, path
        assert (await ada.get(f"/api/v1{one}")).json()["state"] == "active"

    async def test_a_guest_has_tasks_while_they_are_here(self, workspace: Living) -> None:
        async with workspace.browser() as guest:
            assert "Nothing here is kept" in (await guest.get("/tasks")).text
            answer = await post(guest, "/tasks", when="in 2 hours", text="Tea", zone="Europe/Berlin")
            assert answer.status_code == 303 and "set-cookie" in answer.headers
            assert "Tea" in (await guest.get("/tasks")).text
            assert "Tea" in (await guest.get(answer.headers["location"])).text
            mine = UUID(answer.headers["location"].split("/")[2].split("?")[0])
            workspace.visits.end(next(each for each in workspace.visits._by_owner.values() if mine in each.tasks))
            assert (await guest.get(answer.headers["location"])).status_code == 404
        async with workspace.db.reading() as tx:
            assert await tx.raw.fetchval("SELECT count(*) FROM app.due_tasks WHERE owner_kind = 'guest'") == 0


class TestApi:
    async def test_a_task_from_first_to_last(self, ada: httpx2.AsyncClient) -> None:
        task = await made(ada)
        assert len(task["next"]) == 5 and task["next"][0]["utc"] == task["next_at"]
        one, sent = f"/api/v1/tasks/{task['task_id']}", await headers(ada)
        changed = (await ada.patch(one, json={"when": "no, at 8"}, headers=sent)).json()
        assert changed["when"] == "every Sunday at 08:00" and changed["text"] == "Water the plants"
        assert (await ada.post(f"{one}/pause", headers=sent)).json()["state"] == "paused"
        assert (await ada.post(f"{one}/resume", headers=sent)).json()["state"] == "active"
        assert [each["task_id"] for each in (await ada.get("/api/v1/tasks")).json()] == [task["task_id"]]
        assert (await ada.get(f"{one}/runs")).json() == (await ada.get("/api/v1/tasks/missed")).json() == []
        assert (await ada.delete(one, headers=sent)).status_code == 204
        assert (await ada.get("/api/v1/tasks")).json() == []
        for bad in (
            {"when": "PST noon"},
            {"when": "31 April", "text": "x"},
            {"text": "a\x00", "when": "in 5 minutes"},
            {"owner": "x"},
        ):
            answer = await ada.post("/api/v1/tasks", json=bad, headers=sent)
            assert answer.status_code == 422 and answer.json()["message"], bad

    async def test_another_owners_are_like_none(self, workspace: Living, ada: httpx2.AsyncClient) -> None:
        task = await made(ada)
        await workspace.chat.notifications.add(owner_of(ada), "Private", "x")
        [told] = (await ada.get("/api/v1/notifications")).json()
        async with person(workspace, "Eve") as eve:
            sent = await headers(eve)
            answers = {}
            for task_id, number in ((task["task_id"], told["notification_id"]), (str(uuid4()), str(uuid4()))):
                one, note = f"/api/v1/tasks/{task_id}", f"/api/v1/notifications/{number}/read"
                tried = [
                    await eve.get(one), await eve.get(f"{one}/runs"), await eve.get(f"/tasks/{task_id}"), await eve.delete(one, headers=sent),
                    await eve.patch(one, json={"title": "x"}, headers=sent), await eve.post(f"{one}/pause", headers=sent),
                    await eve.post(note, headers=sent),
                ]  # fmt: skip
                assert [each.status_code for each in tried] == [404] * 7
                answers[task_id] = [each.json()["message"] for each in tried if "json" in each.headers["content-type"]]
            assert len(set(map(tuple, answers.values()))) == 1
            shown = {"notification_ids": [told["notification_id"]]}
            assert (await eve.post("/api/v1/notifications/shown", json=shown, headers=sent)).status_code == 204
            assert (await eve.get("/api/v1/notifications")).json() == (await eve.get("/api/v1/tasks")).json() == []
        assert [
            each.shown_at for each in await workspace.chat.notifications.list(Me(owner_of(ada), "Ada", "member"))
        ] == [None]


def soon() -> str:
    """In a second, as a program says it."""
    return (now() + timedelta(seconds=1)).isoformat(timespec="seconds")


async def toast(answer: httpx2.Response, ready: asyncio.Event | None = None) -> dict[str, Any]:
    """The first that a stream brings. `ready` is set once the page knows what there is."""
    async with aclosing(told(answer)) as news:  # type: ignore[type-var]
        async for data in news:
            if data["fresh"]:
                return dict(data["fresh"][0])
            if ready is not None:
                ready.set()
    raise AssertionError("the stream ended")


async def told(answer: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    async with aclosing(events(answer)) as found:  # type: ignore[type-var]
        async for _, kind, data in found:
            if kind == "notifications":
                yield data


class TestToasts:
    async def test_a_due_reminder_comes_to_every_open_page_once(
        self, workspace: Living, ada: httpx2.AsyncClient
    ) -> None:
        said = (await say(ada, "hello")).json()
        pages = ("/live", "/live", f"/live?c={said['conversation_id']}")

        async def page(path: str, ready: asyncio.Event) -> dict[str, Any]:
            async with ada.stream("GET", path) as answer:
                return await toast(answer, ready)

        worker = Worker(workspace.db, "1")
        worker.loop.on_fired.append(workspace.chat.notifications.tell)
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            ready = [asyncio.Event() for _ in pages]
            open_pages = [group.create_task(page(*each)) for each in zip(pages, ready, strict=True)]
            for each in ready:
                await each.wait()
            await worker.start()
            try:
                task = await made(ada, when=soon(), text="Tea is ready", title="Tea")
                found = [await each for each in open_pages]
            finally:
                await worker.stop()
        assert {(each["title"], each["text"], each["task_id"], each["link"]) for each in found} == {
            ("Tea", "Tea is ready", task["task_id"], f"/tasks/{task['task_id']}")
        }
        [kept] = (await ada.get("/api/v1/notifications?unread=true")).json()
        assert kept["notification_id"] == found[0]["notification_id"]
        page_text = (await ada.get("/notifications")).text
        assert "Tea is ready" in page_text and "Mark all as read" in page_text
        assert (await post(ada, f"/notifications/{kept['notification_id']}/read")).status_code == 303
        assert (await ada.get("/api/v1/notifications?unread=true")).json() == []

    async def test_one_that_came_while_nobody_was_here_is_shown_later_and_once(
        self, workspace: Living, ada: httpx2.AsyncClient
    ) -> None:
        await workspace.chat.notifications.add(owner_of(ada), "Missed you", "")
        async with asyncio.timeout(PATIENCE), ada.stream("GET", "/live") as answer:
            shown = await toast(answer)
        ids = {"notification_ids": [shown["notification_id"]]}
        assert (await ada.post("/api/v1/notifications/shown", json=ids, headers=await headers(ada))).status_code == 204
        async with asyncio.timeout(PATIENCE), ada.stream("GET", "/live") as answer, aclosing(told(answer)) as news:  # type: ignore[type-var]
            data = await anext(news)
        assert data["fresh"] == [] and data["unread"] == [shown["notification_id"]]

    async def test_a_guests_reminder_comes_as_a_toast_and_nothing_else(self, workspace: Living) -> None:
        async with workspace.browser() as guest:
            await say(guest, "hello")
            async with asyncio.timeout(PATIENCE), guest.stream("GET", "/live") as answer:
                task = await made(guest, when=soon(), text="Tea")
                found = await toast(answer)
            assert (found["title"], found["task_id"]) == ("Tea", task["task_id"])
            assert (await guest.get("/api/v1/notifications")).json() == []
