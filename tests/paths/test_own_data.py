"""What the agent keeps of a person is theirs to fetch and to have deleted: by a key, on the page, and by the operator for them."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


@contextmanager
def client(stack: Stack, person: Person) -> Iterator[httpx2.Client]:
    """The agent's API by a token that the operator made for this person."""
    key = stack.ask("console", "access.create", kind="token", handle=person.handle, seconds=600)["key"]
    with httpx2.Client(
        base_url=stack.urls["workspace"], headers={"Authorization": f"Bearer {key}"}, timeout=30
    ) as found:
        until(lambda: found.get("/api/v1/me").status_code == 200, 10, "the agent knows the key")
        yield found


def say(api: httpx2.Client, text: str, conversation: str | None = None) -> str:
    answer = api.post("/api/v1/turns", json={"text": text, "conversation_id": conversation})
    assert answer.status_code == 200, answer.text
    found: str = answer.json()["conversation_id"]
    return found


def names(packed: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        return archive.namelist()


def test_ones_own_data_is_fetched_and_deleted(stack: Stack, owner: Person, tmp_path: Path) -> None:
    person, other = owner.add("member"), owner.add("viewer")
    with client(stack, person) as mine, client(stack, other) as theirs:
        chat = say(mine, "remember this: the harbour opens at six")
        say(mine, "the typed \\u0000 and C:\\u0041bc stay", chat)
        say(theirs, "remember this: nothing of mine goes")
        assert theirs.get(f"/api/v1/conversations/{chat}").json()["code"] == "not_found"
        assert [each["message"]["number"] for each in mine.get("/api/v1/search", params={"q": '"\\u0000 and C:\\u0041bc"'}).json()][-1:] != []  # fmt: skip
        packed = mine.get("/api/v1/export").content
        assert any(name.startswith("conversations/") for name in names(packed)) and "workspace/.memory.md" in names(
            packed
        )
        for body, status in (
            ({"confirm": "yes"}, 422),
            ({}, 422),
            ({"confirm": "delete everything", "owner": "x"}, 422),
        ):
            assert mine.post("/api/v1/forget", json=body).status_code == status
        deleted = mine.post("/api/v1/forget", json={"confirm": "delete everything"}).json()["deleted"]
        assert deleted["conversations"] == 1 and deleted["workspace"] >= 1
        assert mine.get("/api/v1/conversations").json() == []
        assert "workspace/.memory.md" not in names(mine.get("/api/v1/export").content)
        assert len(theirs.get("/api/v1/conversations").json()) == 1
    turns = stack.value("agent", "SELECT count(*) FROM app.open_turn_owners")
    assert turns == 0
    file = tmp_path / "theirs.zip"
    stack.cli("agent", "export", "--person", other.handle, "--to", str(file))
    assert file.stat().st_mode & 0o777 == 0o600 and "workspace/.memory.md" in names(file.read_bytes())
    assert stack.run("agent", "export", "--person", other.handle, "--to", str(file)).returncode == 2
    assert stack.cli("agent", "forget", "--person", other.handle, "--yes")["deleted"]["conversations"] == 1
    assert httpx2.get(f"{stack.urls['workspace']}/api/v1/export").status_code == 401


def test_cv_03_a_killed_agent_leaves_no_turn_open(stack: Stack, owner: Person) -> None:
    """kill -9 while turns run; what was open is closed when it is back, and the conversation goes on (CV-03)."""
    person = owner.add("member")
    with client(stack, person) as api:
        chat = say(api, "remember this: before")
        for _ in range(8):
            api.post("/api/v1/turns", json={"text": "what do you remember?", "conversation_id": chat, "wait": False})
        stack.back("agent", stack.kill("agent"))
        until(lambda: stack.value("agent", "SELECT count(*) FROM app.open_turn_owners") == 0, 20, "no turn is open")
        say(api, "what do you remember?", chat)
        messages = api.get(f"/api/v1/conversations/{chat}/messages").json()
    users = [each["turn_id"] for each in messages if each["part"] == "user"]
    replies = [each["turn_id"] for each in messages if each["part"] == "reply"]
    assert users == replies and len(users) == 10
