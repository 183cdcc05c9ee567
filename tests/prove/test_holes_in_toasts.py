"""Notifications laid open behind the agent's back, and workspaces that misbehave in one respect: prove finds what could then be rewritten, read or sent."""

import json
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from infra.prove.areas.toasts import check_pages, check_rows
from infra.prove.check import Book
from tests.prove.conftest import Proving
from tests.prove.fakes import SOUND_HEADERS, Reply, Request, front
from tests.prove.planting import Hole, by_sql, named, see


def hole(name: str, found_by: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_rows, found_by, "agent_db", plant, heal)


def granted(name: str, found_by: str, right: str) -> Hole:
    return hole(name, found_by, f"GRANT {right} TO agent", f"REVOKE {right} FROM agent")


HOLES = [
    granted("notifications that can be rewritten", "rewrite what somebody was told", "UPDATE (text) ON core.notifications"),
    granted("notifications of another time", "say that it was due at another time", "UPDATE (due_at) ON core.notifications"),
    granted("notifications that say when they were", "a notification with a time of its own", "INSERT (at) ON core.notifications"),
    granted("notifications that are born read", "a notification that nobody is shown", "INSERT (read_at) ON core.notifications"),
    hole("notifications that are everybody's", "a notification of another owner", "ALTER TABLE core.notifications DISABLE ROW LEVEL SECURITY", "ALTER TABLE core.notifications ENABLE ROW LEVEL SECURITY"),
    hole("notifications that everybody reads", "read what another owner was told", "CREATE POLICY open ON core.notifications FOR SELECT USING (true)", "DROP POLICY open ON core.notifications"),
    hole("notifications that everybody marks", "mark another owner's as read", "CREATE POLICY open ON core.notifications USING (true)", "DROP POLICY open ON core.notifications"),
    hole("notifications without end", "fill the database", "ALTER TABLE core.notifications DISABLE TRIGGER keep_notification", "ALTER TABLE core.notifications ENABLE ALWAYS TRIGGER keep_notification"),
]  # fmt: skip


@pytest.mark.stack
@pytest.mark.parametrize("planted", named(HOLES))
def test_a_planted_hole_in_notifications_is_found(proving: Proving, planted: Hole) -> None:
    see(planted, proving.stack)


@dataclass
class Workspace:
    """Sound but for the names in `holes`. Cookies are `guest=1.TOKEN`, a form's token is the cookie's reverse."""

    holes: frozenset[str] = frozenset()
    tasks: dict[str, dict[str, str]] = field(default_factory=dict)
    """Cookie -> its reminder."""

    def __call__(self, request: Request) -> Reply:
        cookie, path = request.headers.get("Cookie", "").removeprefix("guest="), request.path
        if path == "/api/v1/turns":
            token = f"1.{uuid4().hex}"
            return 200, {**SOUND_HEADERS, "Set-Cookie": f"guest={token}; HttpOnly"}, json.dumps({"token": token[::-1]})
        if request.method != "GET":
            return self.change(request, cookie, path)
        if path == "/api/v1/notifications":
            return 200, SOUND_HEADERS, json.dumps(list(self.tasks) if "told to all" in self.holes else [])
        if path == "/api/v1/tasks":
            return 200, SOUND_HEADERS, json.dumps([self.tasks[cookie]] if cookie in self.tasks else [])
        return self.found(cookie, path)

    def change(self, request: Request, cookie: str, path: str) -> Reply:
        if "Origin" in request.headers and "foreign origin" not in self.holes:
            return 403, SOUND_HEADERS, "{}"
        if request.headers.get("X-Form-Token") != cookie[::-1] and "no token" not in self.holes:
            return 403, SOUND_HEADERS, "{}"
        if path == "/api/v1/me/visit":
            if "outlives" not in self.holes:
                self.tasks.pop(cookie, None)
            return 204, SOUND_HEADERS, ""
        if path == "/api/v1/tasks":
            self.tasks[cookie] = {"task_id": str(uuid4()), "state": "active"}
            return 201, SOUND_HEADERS, json.dumps(self.tasks[cookie])
        return self.found(cookie, path)

    def found(self, cookie: str, path: str) -> Reply:
        mine = self.tasks.get(cookie, {}).get("task_id", "?")
        known = {each["task_id"] for each in self.tasks.values()}
        there = next((each for each in known if each in path), "")
        if there and (there == mine or "shared" in self.holes):
            return 200, SOUND_HEADERS, json.dumps({"state": "active"})
        said = "It is another guest's." if there and "tells" in self.holes else "There is no such task."
        return 404, SOUND_HEADERS, json.dumps({"code": "task", "message": said})


async def failed(*holes: str) -> list[str]:
    book = Book("toasts")
    with front(Workspace(frozenset(holes))) as base:
        await check_pages(book, base)
    return [f"{each.actor}: {each.attempt}" for each in book.checks if not each.ok]


async def test_a_sound_workspace_has_no_hole() -> None:
    assert await failed() == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("shared", "another guest: GET /api/v1/tasks/{} is refused"),
        ("tells", "another guest: PATCH /api/v1/tasks/{} tells nothing"),
        ("no token", "a guest's browser: DELETE /api/v1/tasks/{} with a made-up token"),
        ("foreign origin", "a foreign page: POST /api/v1/tasks/{}/pause"),
        ("told to all", "nobody: GET /api/v1/notifications finds"),
        ("outlives", "a guest: the reminders of a visit that is over"),
    ],
)
async def test_a_planted_hole_on_pages_of_tasks_is_found(planted: str, found: str) -> None:
    assert found in await failed(planted)
