"""The chat over HTTP: answers as pages, as JSON and as streams; what stops, what goes on, and what nobody else may see."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from openapi_spec_validator import validate

from schemas.outward import Owner
from services.agent.chat import stream
from services.agent.chat.web import make_web
from services.agent.owners.domain import GUESTS
from services.agent.tools.domain import Found
from shared.testing.servers import Servers
from shared.web.serve import HttpServer
from tests.factories.identity import sign_in
from tests.factories.workspace import Living, events, form_token, free_port, headers, living, say

LEDGER = "SELECT kind, estimated FROM core.usage_ledger WHERE turn_id = $1"
TURNS = "SELECT outcome FROM core.turns WHERE turn_id = $1"


@pytest.fixture(scope="module")
async def running(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Living]:
    async with living(servers, tmp_path_factory.mktemp("agent")) as found:
        yield found


@pytest.fixture
def workspace(running: Living) -> Living:
    """The same for all of them; nobody is here yet."""
    running.says.begin()
    for visit in list(running.visits._by_owner.values()):
        running.visits.end(visit)
    return running


@pytest.fixture
async def ada(workspace: Living) -> AsyncIterator[httpx2.AsyncClient]:
    async with workspace.browser() as client:
        client.headers["x-test-owner"] = str(subject := uuid4())
        await sign_in(client, workspace.people, role="owner", name="Ada", sub=subject)
        yield client


def owner_of(client: httpx2.AsyncClient) -> Any:
    return Owner(kind="user", id=client.headers["x-test-owner"])


async def rows(workspace: Living, owner: Any, statement: str, turn: str) -> list[dict[str, Any]]:
    async with workspace.db.owned(owner) as tx:
        return [dict(each) for each in await tx.raw.fetch(statement, UUID(turn))]


def new_cookie(answer: httpx2.Response) -> str:
    found = re.search(r"agent_guest=([^;]+)", answer.headers["set-cookie"])
    assert found
    return found[1]


async def until(look: Any, seconds: float = 3.0) -> Any:
    async with asyncio.timeout(seconds):
        while not (found := await look()):
            await asyncio.sleep(0.02)
    return found


async def is_taken(client: httpx2.AsyncClient, text: str) -> bool:
    """A database that is slow for a moment says so; whoever is told tries again."""
    for _ in range(10):
        if (await say(client, text)).status_code in (200, 202):
            return True
    return False


async def reply_of(client: httpx2.AsyncClient, turn_id: str) -> str:
    """A request waits for an answer for as long as one may (rule 31), and is then told to come back."""
    for _ in range(10):
        told = (await client.get(f"/api/v1/turns/{turn_id}", params={"wait": True})).json()
        if "reply" in told:
            return str(told["reply"])
    raise AssertionError(f"no answer yet: {told}")


class TestAnswers:
    async def test_a_form_works_without_javascript(self, workspace: Living) -> None:
        async with workspace.browser() as client:
            sent = {"token": await form_token(client), "message": "say **hello**\r\n<script>x</script>", "do": "send"}
            answer = await client.post("/", data=sent, headers={"Origin": workspace.url})
            assert answer.status_code == 303 and re.match(r"/c/[0-9a-f-]{36}\?turn=", answer.headers["location"])

            async def page() -> str:
                text = (await client.get(answer.headers["location"])).text
                return text if "<strong>hello</strong>" in text else ""

            shown = await until(page)
            assert "&lt;script&gt;x&lt;/script&gt;" in shown and "<script>x" not in shown
            assert "http-equiv" not in shown

    async def test_what_could_not_be_sent_comes_back_in_its_field(self, workspace: Living) -> None:
        async with workspace.browser() as client:
            token = await form_token(client)
            for message, status, said in (
                ("x" * 300_000, 413, "at most 256 KiB"), ("a\x00b", 422, "NUL"), ("  ", 422, "empty"), ("ä" * 262_144, 413, "256 KiB"),
            ):  # fmt: skip
                answer = await client.post(
                    "/", data={"token": token, "message": message}, headers={"Origin": workspace.url}
                )
                assert answer.status_code == status and said in answer.text, answer.text[-1500:]
            answer = await client.post("/", data={"token": "x", "message": "mine"}, headers={"Origin": workspace.url})
            assert answer.status_code == 403 and ">mine</textarea>" in answer.text

    async def test_a_turn_is_answered_as_json(self, ada: httpx2.AsyncClient) -> None:
        found = (await say(ada, "say hello")).json()
        assert found["reply"] == "hello" and found["state"] == "ok" and found["cost"] == "0" and found["tools"] == []
        again = (await ada.get(f"/api/v1/turns/{found['turn_id']}")).json()
        assert again["reply"] == "hello"
        [row] = (await ada.get("/api/v1/conversations")).json()
        assert row["conversation_id"] == found["conversation_id"] and row["cost"] == "0"
        messages = (await ada.get(f"/api/v1/conversations/{row['conversation_id']}/messages")).json()
        assert [(each["number"], each["part"], each["text"]) for each in messages] == [
            (1, "user", "say hello"),
            (2, "reply", "hello"),
        ]

    async def test_tools_are_shown_with_what_they_were_asked_and_answered(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        workspace.says.found = Found({"text": "<b>five</b>"}, "5 <i>letters</i>")
        found = (await say(ada, "use here")).json()
        assert found["tools"] == ["look"]
        page = (await ada.get(f"/c/{found['conversation_id']}")).text
        assert "✓ <code>look</code> 5 &lt;i&gt;letters&lt;/i&gt;" in page and "&lt;b&gt;five&lt;/b&gt;" in page
        assert "&#34;at&#34;: &#34;here&#34;" in page

    async def test_bad_requests_are_told_what_is_wrong(self, workspace: Living, ada: httpx2.AsyncClient) -> None:
        head = await headers(ada)
        bad: list[tuple[Any, int]] = [
            (b"{", 422), (b'{"text": "\\ud800"}', 422), (b'{"text": "a\\u0000b"}', 422), (b'{"text": 1}', 422), (b"[" * 100_000, 422),
            (b'{"text": "hi", "owner": "user:7"}', 422), (b'{"text": "hi", "conversation_id": "x"}', 422), (b"{}", 422),
            (json.dumps({"text": "x" * 262_145}).encode(), 413), (b'{"text": "' + b"x" * 2_000_000 + b'"}', 413),
            (b'{"text": "hi", "' + b"x" * 1_000_000 + b'": 1}', 422),
        ]  # fmt: skip
        for body, status in bad:
            answer = await ada.post("/api/v1/turns", content=body, headers={**head, "content-type": "application/json"})
            assert answer.status_code == status, (body[:40], answer.text)
            assert set(answer.json()) == {"code", "message", "trace_id"} and len(answer.content) < 1000
        for method, path, status in (
            ("GET", "/api/v1/nothing", 404),
            ("PUT", "/api/v1/turns", 405),
            ("GET", "/api/nope", 404),
        ):
            assert (await ada.request(method, path, headers=head)).status_code == status
        assert (await ada.get("/api/v1/conversations")).json() == []
        document = (await ada.get("/api/v1/openapi.json")).json()
        validate(document)
        assert all(each["summary"] for methods in document["paths"].values() for each in methods.values())

    async def test_the_tenth_message_is_told_busy_and_those_before_it_are_answered_in_order(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        first = (await say(ada, "slowly 8", wait=False)).json()
        where = first["conversation_id"]
        waiting = [(await say(ada, f"say {n}", where, wait=False)).json() for n in range(8)]
        assert [each["before"] for each in waiting] == [*range(1, 9)]
        busy = await say(ada, "say more", where)
        assert busy.status_code == 429 and busy.json()["code"] == "busy" and "8 messages wait" in busy.json()["message"]
        workspace.says.go.set()
        assert await reply_of(ada, waiting[-1]["turn_id"]) == "7"
        messages = (await ada.get(f"/api/v1/conversations/{where}/messages")).json()
        assert [each["text"] for each in messages if each["part"] == "user"] == [
            "slowly 8",
            *(f"say {n}" for n in range(8)),
        ]


class TestStreams:
    async def test_sp_02_a_turn_that_nobody_reads_any_more_is_stopped_and_written_down_once(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        seen = 0
        head = {**await headers(ada), "accept": "text/event-stream"}
        async with ada.stream("POST", "/api/v1/turns", json={"text": "slowly 100"}, headers=head) as answer:
            async for _, kind, data in events(answer):
                turn = data.get("turn", data.get("turn_id"))
                seen += kind == "text"
                if "word5" in str(data.get("text")):
                    break
        assert seen >= 1 and turn
        owner = owner_of(ada)
        [row] = await until(lambda: rows(workspace, owner, TURNS, turn))
        assert row["outcome"] == "aborted"
        [row] = await rows(workspace, owner, LEDGER, turn)
        assert row["kind"] == "aborted"

    async def test_a_page_that_was_lost_goes_on_where_it_was(self, workspace: Living, ada: httpx2.AsyncClient) -> None:
        where = (await say(ada, "say first")).json()["conversation_id"]
        turn = (await say(ada, "slowly 12", where, wait=False)).json()["turn_id"]
        last, text = "", ""
        async with ada.stream("GET", f"/live?c={where}") as answer:
            async for number, kind, data in events(answer):
                if kind == "text":
                    last, text = number, text + data["text"]
                    if "word5" in text:
                        break
        workspace.says.go.set()
        await asyncio.sleep(0.1)
        async with ada.stream("GET", f"/live?c={where}", headers={"last-event-id": last}) as answer:
            async for _, kind, data in events(answer):
                if kind == "text":
                    text += data["text"]
                if kind == "turn" and data["as"] == "done" and "word11" in data["html"]:
                    break
        assert text.split() == [f"word{n}" for n in range(12)] or text.split() == [f"word{n}" for n in range(6)]
        [row] = await rows(workspace, owner_of(ada), TURNS, turn)
        assert row["outcome"] == "ok"

    async def test_all_tabs_see_the_same_and_the_list_follows(self, workspace: Living, ada: httpx2.AsyncClient) -> None:
        where = (await say(ada, "say first")).json()["conversation_id"]

        async def tab(path: str, last: str) -> list[str]:
            heard = []
            async with ada.stream("GET", path) as answer:
                async for _, kind, data in events(answer):
                    heard.append(kind)
                    if kind == last and (kind != "list" or "news" in data["html"]):
                        return heard
            return heard

        async with asyncio.TaskGroup() as group:
            tabs = [group.create_task(tab(f"/live?c={where}", "turn")) for _ in range(2)]
            other = group.create_task(tab("/live", "list"))
            await asyncio.sleep(0.2)
            await say(ada, "use it", where)
            await ada.patch(f"/api/v1/conversations/{where}", json={"title": "news"}, headers=await headers(ada))
        for each in tabs:
            assert {"started", "tool", "tools", "text", "turn"} <= set(each.result())
        assert other.result()[-1] == "list"

    async def test_the_stop_button_stops_and_bills_what_was_said(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        found = (await say(ada, "slowly 50", wait=False)).json()
        where, turn = found["conversation_id"], found["turn_id"]
        async with ada.stream("GET", f"/live?c={where}&after={turn}.0") as answer:
            async for _, kind, data in events(answer):
                if kind == "text" and "word5" in data["text"]:
                    break
            stopped = await ada.post(f"/api/v1/conversations/{where}/stop", headers=await headers(ada))
            assert stopped.status_code == 204
        record = (await ada.get(f"/api/v1/turns/{turn}", params={"wait": True})).json()
        assert record["state"] == "aborted" and record["reply"].endswith("word5 ")
        assert [each["kind"] for each in await rows(workspace, owner_of(ada), LEDGER, turn)] == ["aborted"]
        assert "Stopped here." in (await ada.get(f"/c/{where}")).text

    async def test_what_a_guest_asked_for_stops_when_their_last_page_closes(self, workspace: Living, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
        monkeypatch.setattr(stream, "GONE", 0.1)
        async with workspace.browser() as client:
            found = (await say(client, "slowly 50", wait=False)).json()
            where = found["conversation_id"]
            for _ in range(2):  # a reload: the second one is there in time
                async with client.stream("GET", f"/live?c={where}") as answer:
                    async for _, kind, _ in events(answer):
                        if kind == "started":
                            break

            async def aborted() -> bool:
                messages = (await client.get(f"/api/v1/conversations/{where}/messages")).json()
                return bool(messages[-1]["aborted"])

            assert await until(aborted)

    async def test_a_stream_is_only_its_owner_s(self, workspace: Living, ada: httpx2.AsyncClient) -> None:
        where = (await say(ada, "say first")).json()["conversation_id"]
        async with workspace.browser() as nobody, workspace.browser() as guest:
            assert (await nobody.get(f"/live?c={where}")).status_code == 401
            await say(guest, "say hi")
            for path in (
                f"/live?c={where}",
                f"/live?c={uuid4()}",
                "/live?c=x",
                f"/api/v1/conversations/{where}/events",
            ):
                assert (await guest.get(path)).status_code == 404, path


class TestWhoseItIs:
    async def test_another_owner_s_conversation_is_like_none_at_every_address(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        mine = (await say(ada, "say the secret is mitre")).json()
        async with workspace.browser() as other, workspace.browser() as guest:
            await sign_in(other, workspace.people, role="owner", name="Other")
            assert await is_taken(guest, "say hi"), "there is a visit"
            for client in (other, guest):
                head = await headers(client)
                for where in (mine["conversation_id"], str(uuid4())):
                    one = f"/api/v1/conversations/{where}"
                    asked = [
                        ("GET", one, None), ("GET", f"{one}/messages", None), ("GET", f"{one}/events", None), ("DELETE", one, None),
                        ("PATCH", one, {"title": "x"}), ("POST", f"{one}/stop", None), ("POST", f"{one}/clear", None),
                        ("POST", "/api/v1/turns", {"text": "hi", "conversation_id": where}), ("GET", f"/c/{where}", None),
                    ]  # fmt: skip
                    for method, path, body in asked:
                        answer = await client.request(method, path, json=body, headers=head)
                        assert answer.status_code == 404, (method, path, answer.text)
                        assert "mitre" not in answer.text and "no such conversation" in answer.text
                assert (await client.get(f"/api/v1/turns/{mine['turn_id']}")).status_code == 404
                assert (await client.get("/api/v1/search", params={"q": "mitre"})).json() == []
        assert (await ada.get("/api/v1/conversations")).json()[0]["title"] != "x"

    async def test_ag_08_a_guest_is_found_by_the_cookie_of_their_own_visit_alone(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        await say(ada, "say user's own")
        session = ada.cookies["agent"]
        async with workspace.browser() as guest:
            found = (await say(guest, "say mitre")).json()
            old = guest.cookies["agent_guest"]
            owner_id = next(iter(workspace.visits._by_owner))
        for forged in (
            session,
            owner_id,
            f"1.{owner_id}",
            ada.headers["x-test-owner"],
            found["conversation_id"],
            old[:-1],
            old.upper(),
        ):
            async with workspace.browser(cookies={"agent_guest": forged}) as client:
                assert (await client.get("/api/v1/conversations")).json() == []
                assert "mitre" not in (await client.get("/conversations?q=mitre")).text.replace("“mitre”", "").replace(
                    'value="mitre"', ""
                )
                assert (await client.get(f"/c/{found['conversation_id']}")).status_code == 404
                fresh = await say(client, "say hello")
                assert fresh.status_code == 200 and new_cookie(fresh) not in (forged, old)
        async with workspace.browser(cookies={"agent_guest": old}) as client:
            assert len((await client.get("/api/v1/conversations")).json()) == 1
            assert (await client.delete("/api/v1/me/visit", headers=await headers(client))).status_code == 204
        async with workspace.browser(cookies={"agent_guest": old}) as client:
            assert (await client.get("/api/v1/conversations")).json() == []
            assert (await client.get(f"/c/{found['conversation_id']}")).status_code == 404
            assert new_cookie(await say(client, "say hello")) != old

    async def test_what_changes_something_comes_from_a_page_of_ours(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        head = await headers(ada)
        where = (await say(ada, "say hello")).json()["conversation_id"]
        one = f"/api/v1/conversations/{where}"
        asked: list[tuple[str, str, Any]] = [
            ("POST", "/api/v1/turns", {"text": "hi"}), ("PATCH", one, {"title": "x"}), ("DELETE", one, None), ("POST", f"{one}/stop", None),
            ("POST", f"{one}/clear", None), ("PUT", "/api/v1/me/zone", {"zone": "UTC"}),
        ]  # fmt: skip
        foreign = [
            {"Origin": "http://localhost:9300"},
            {"Origin": "https://evil.test"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
        ]
        for method, path, body in asked:
            for bad in foreign:
                assert (
                    await ada.request(method, path, json=body, headers={**head, "Origin": "", **bad})
                ).status_code == 403
            for token in ({}, {"X-Form-Token": ""}, {"X-Form-Token": "f" * 64}):
                answer = await ada.request(method, path, json=body, headers=token)
                assert answer.status_code == 403 and answer.json()["code"] == "token", (method, path)
        for path in ("/", f"/c/{where}", f"/c/{where}/title", f"/c/{where}/delete", f"/c/{where}/clear", "/leave"):
            sent = {"message": "hi", "title": "x", "token": "f" * 64}
            assert (await ada.post(path, data=sent, headers={"Origin": workspace.url})).status_code == 403, path
            assert (await ada.post(path, data=sent, headers={"Origin": "https://evil.test"})).status_code == 403, path
        assert len((await ada.get("/api/v1/conversations")).json()) == 1

    async def test_a_guest_s_things_are_in_no_table(self, workspace: Living) -> None:
        async with workspace.browser() as guest:
            found = (await say(guest, "use here")).json()
        assert found["reply"]
        assert [each["kind"] for each in await rows(workspace, GUESTS, LEDGER, found["turn_id"])] == ["settled"]
        owner = next(iter(workspace.visits._by_owner.values())).owner
        for table in ("conversations", "messages", "open_turns", "turns", "turn_texts", "usage_ledger"):
            async with workspace.db.owned(owner) as tx:
                assert await tx.raw.fetchval(f"SELECT count(*) FROM core.{table}") == 0, table


class TestPages:
    async def test_conversations_are_renamed_searched_cleared_and_deleted(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        workspace.says.found = Found("outside", "read", sources=("https://evil.example",))
        where = (await say(ada, "use there")).json()["conversation_id"]
        page = (await ada.get(f"/c/{where}")).text
        assert "https://evil.example" in page and 'id="taint">' in page
        origin = {"Origin": workspace.url}
        for path, fields in (("title", {"title": "Gates <&> locks"}), ("clear", {})):
            token = await form_token(ada, f"/c/{where}")
            answer = await ada.post(f"/c/{where}/{path}", data={"token": token, **fields}, headers=origin)
            assert answer.headers["location"] == f"/c/{where}"
        page = (await ada.get(f"/c/{where}")).text
        assert "Gates &lt;&amp;&gt; locks" in page and 'id="taint" hidden' in page
        assert "1 message with “there”" in (await ada.get("/conversations", params={"q": "there"})).text
        assert "No message holds" in (await ada.get("/conversations", params={"q": "%"})).text
        assert (await ada.get("/conversations", params={"q": "x" * 600})).status_code == 422
        assert "$0.00" in (await ada.get("/usage")).text
        token = await form_token(ada, f"/c/{where}")
        answer = await ada.post(f"/c/{where}/delete", data={"token": token}, headers=origin)
        assert answer.headers["location"] == "/conversations" and (await ada.get(f"/c/{where}")).status_code == 404

    async def test_a_zone_that_there_is_none_of_is_replaced_with_a_word(self, workspace: Living, ada: httpx2.AsyncClient) -> None:  # fmt: skip
        async def put(zone: str) -> dict[str, str]:
            found: dict[str, str] = (
                await ada.put("/api/v1/me/zone", json={"zone": zone}, headers=await headers(ada))
            ).json()
            return found

        assert await put("Europe/Berlin") == {"zone": "Europe/Berlin", "notice": ""}
        found = await put("UTC+3")
        assert found["zone"] == "Europe/Berlin" and found["notice"]
        assert (await ada.get("/api/v1/me")).json()["zone"] == "Europe/Berlin"

    async def test_a_guest_s_first_message_says_their_zone(self, workspace: Living) -> None:
        async with workspace.browser() as client:
            body = {"text": "say hello", "zone": "America/New_York"}
            assert (await client.post("/api/v1/turns", json=body, headers=await headers(client))).status_code == 200
            assert (await client.get("/api/v1/me")).json()["zone"] == "America/New_York"

    async def test_a_guest_ends_the_visit_and_everything_is_gone(self, workspace: Living) -> None:
        async with workspace.browser() as guest:
            where = (await say(guest, "say mitre")).json()["conversation_id"]
            token = await form_token(guest, "/leave")
            answer = await guest.post("/leave", data={"token": token}, headers={"Origin": workspace.url})
            assert "Your visit is over" in answer.text and len(workspace.visits) == 0
            assert (await guest.get(f"/c/{where}")).status_code == 404

    async def test_nothing_of_a_guest_who_only_looks_is_kept(self, workspace: Living) -> None:
        for _ in range(2):
            async with workspace.browser() as client:
                for path in ("/", "/conversations", "/usage", "/api/v1/me"):
                    assert "set-cookie" not in (await client.get(path)).headers
        assert len(workspace.visits) == 0

    async def test_a_service_that_stops_ends_the_streams_of_guests(self, workspace: Living) -> None:
        port = free_port()
        web = make_web(workspace.chat)
        server = HttpServer(web.app, host="127.0.0.2", port=port, closing=web.close)
        await server.start()
        host = {"Host": workspace.url.removeprefix("http://")}
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.2:{port}", headers=host, timeout=10) as guest:
            where = (await guest.post("/api/v1/turns", json={"text": "say hi"})).json()["conversation_id"]
            async with guest.stream("GET", f"/live?c={where}") as answer:
                heard = events(answer)
                assert (await anext(heard))[1] == "here"
                stopping = asyncio.create_task(server.stop())
                assert "end" in [kind async for _, kind, _ in heard]
                await stopping
