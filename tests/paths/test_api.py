"""The console's HTTP API, end to end: what a program with a token can do, and what it is told when it cannot."""

import weakref
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


class Program:
    """A client with one API token and no cookies."""

    def __init__(self, stack: Stack, token: str = "") -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx2.Client(base_url=stack.urls["console"] + "/api/v1", timeout=30, headers=headers)
        weakref.finalize(self, self.http.close)

    def submit(self, markdown: str, path: str = "", **more: str) -> httpx2.Response:
        new = {"kind": "page", "lang": "en", "path": path or f"api-{uuid4().hex[:8]}", "markdown": markdown}
        return self.http.post("/items", json=new | more)

    def item(self, item_id: str) -> dict[str, Any]:
        answer = self.http.get(f"/items/{item_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def decide(self, item: dict[str, Any], verdict: str = "approve", **more: Any) -> httpx2.Response:
        seen = {name: item[name] for name in ("revision", "content_hash", "version")}
        return self.http.post(f"/items/{item['item_id']}/decisions", json=seen | {"verdict": verdict} | more)

    def withdraw(self, item: dict[str, Any], **more: Any) -> httpx2.Response:
        return self.http.post(f"/items/{item['item_id']}/withdrawals", json=more)


@pytest.fixture(scope="module")
def program(stack: Stack, moderator: Person) -> Program:
    return Program(stack, moderator.api_token("moderator"))


def waiting(program: Program, text: str = "words") -> dict[str, Any]:
    answer = program.submit(f"# From a program\n\n{text}\n")
    assert answer.status_code == 202, answer.text
    found = answer.json()
    assert (found["state"], found["revision"]) == ("queued", 1), "it waits for the lock's answer"
    return program.item(found["item_id"])


def says(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_submitted_decided_and_withdrawn_by_a_program(stack: Stack, program: Program, visitor: Visitor) -> None:
    item = waiting(program, "by a program")
    answer = program.decide(item)
    assert (answer.status_code, answer.json()["outcome"]) == (200, "applied"), answer.text
    place = f"/page/en/{item['path']}"
    until(lambda: "by a program" in visitor.get(place).text, 5)
    public = until(lambda: (found := program.item(item["item_id"]))["live_since"] and found, 5)
    assert (public["state"], public["published_revision"], public["live_revision"]) == ("published", 1, 1)
    assert public["url"] == stack.urls["site"] + place
    query = f"SELECT via, person_name FROM core.decisions WHERE item_id = '{item['item_id']}'"
    assert stack.rows("bridge", query) == [{"via": "api", "person_name": "Mona Moderator"}]
    answer = program.withdraw(public, reason="no longer true", version=public["version"])
    assert (answer.status_code, answer.json()["outcome"]) == (200, "applied"), answer.text
    until(lambda: visitor.get(place).status_code == 410, 3)
    assert program.item(item["item_id"])["state"] == "withdrawn"


def test_a_program_can_schedule(program: Program, visitor: Visitor) -> None:
    item, at = waiting(program), datetime.now(UTC) + timedelta(seconds=2)
    assert program.decide(item, publish_at=at.isoformat()).status_code == 200
    held = until(lambda: (found := program.item(item["item_id"]))["state"] == "scheduled" and found, 5)
    assert datetime.fromisoformat(held["publish_at"]) == at
    until(lambda: visitor.get(f"/page/en/{item['path']}").status_code == 200, 8)
    assert datetime.now(UTC) >= at


def test_what_a_program_did_not_see_is_not_decided(program: Program) -> None:
    item = waiting(program)
    assert says(program.decide(item | {"content_hash": "0" * 64})) == (409, "stale")
    again = program.submit("# From a program\n\nother words\n", item["path"]).json()
    assert (again["state"], again["revision"]) == ("queued", 2)
    assert says(program.decide(item)) == (409, "stale")
    newer = program.item(item["item_id"])
    assert program.decide(newer, "reject", reason="no").status_code == 200
    answer = program.decide(newer)
    assert says(answer) == (409, "decided") and "Mona Moderator" in answer.json()["message"]
    assert says(program.withdraw(item)) == (422, "not_published")


def test_the_same_text_again_is_no_revision(program: Program) -> None:
    item = waiting(program)
    again = program.submit("# From a program\n\nwords\n", item["path"]).json()
    assert (again["state"], again["revision"]) == ("unchanged", 1)
    one = program.http.get(f"/submissions/{again['submission_id']}").json()
    assert one == again


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"verdict": "publish"}, (422, "invalid")),
        ({"revision": "first"}, (422, "invalid")),
        ({"revision": 2**40}, (422, "invalid")),
        ({"content_hash": "x"}, (422, "invalid")),
        ({"publish_at": "2020-01-01T00:00:00Z"}, (422, "time")),
        ({"publish_at": "2099-01-01T00:00:00"}, (422, "invalid")),
        ({"publish_at": "9999-12-31T23:59:59-12:00"}, (422, "time")),
        ({"verdict": "reject"}, (422, "reason")),
        ({"verdict": "reject", "reason": "nul \x00"}, (422, "reason")),
    ],
)
def test_a_decision_that_makes_no_sense(program: Program, change: dict[str, Any], said: tuple[int, str]) -> None:
    item = waiting(program)
    assert says(program.decide(item, **change)) == said
    assert program.item(item["item_id"])["state"] == "submitted"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "novel"}, (422, "kind")),
        ({"lang": "d"}, (422, "lang")),
        ({"path": "a/../b"}, (422, "path")),
        ({"path": "/"}, (422, "path")),
        ({"markdown": "# a\x00b"}, (422, "text")),
        ({"markdown": "# long\n\n" + "x" * (600 * 1024)}, (413, "too_large")),
        ({"markdown": "---\ntitle: [\n---\n\nx"}, None),
    ],
)
def test_a_submission_that_makes_no_sense(program: Program, change: Any, said: tuple[int, str] | None) -> None:
    answer = program.submit(**({"markdown": "# fine\n\nwords\n"} | change))
    assert says(answer) == (said or (422, answer.json()["code"])), answer.text[:500]
    assert len(answer.json()["message"]) > 20


def test_a_token_does_what_its_holder_and_its_role_may(stack: Stack, owner: Person, program: Program) -> None:
    item = waiting(program)
    member = owner.add("member")
    for weak in (Program(stack, member.api_token("member")), Program(stack, owner.api_token("viewer"))):
        assert weak.item(item["item_id"])["state"] == "submitted"
        assert says(weak.decide(item)) == (403, "forbidden")
        assert says(weak.withdraw(item)) == (403, "forbidden")
    assert says(Program(stack, owner.api_token("viewer")).submit("# no\n\nno\n")) == (403, "forbidden")
    assert Program(stack, member.api_token("member")).submit("# yes\n\nyes\n").status_code == 202


@pytest.mark.parametrize("token", ["", "schleuse_wrong", "x y", "\u00fc"])
def test_without_a_good_token_nothing_is_told(stack: Stack, program: Program, token: str) -> None:
    item = waiting(program)
    headers = {b"Authorization": f"Bearer {token}".encode()} if token else {}
    for method, path in (("GET", "/items"), ("GET", f"/items/{item['item_id']}"), ("POST", f"/items/{item['item_id']}/decisions")):  # fmt: skip
        answer = httpx2.request(method, str(program.http.base_url).rstrip("/") + path, headers=headers, json={})
        assert says(answer) == (401, "token"), (path, answer.text)
        assert item["path"] not in answer.text


def test_a_browsers_cookie_is_no_token(moderator: Person) -> None:
    assert moderator.http.get("/api/v1/items").status_code == 401


def test_what_does_not_exist_is_a_problem_document_too(program: Program) -> None:
    assert says(program.http.get(f"/items/{uuid4()}")) == (404, "not_found")
    assert says(program.http.get("/nothing")) == (404, "not_found")
    assert program.http.get("/items/no-id").status_code in (404, 422)
    assert says(program.http.get("/items/%0A")) == (404, "not_found")
    refused = program.http.delete("/items")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")
    assert says(program.http.get("/items", params={"q": "\x00"}))[0] == 422


def test_the_openapi_document_is_complete(stack: Stack) -> None:
    document = httpx2.get(stack.urls["console"] + "/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.")
    [scheme] = document["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    wanted = {
        "/v1/items": {"get", "post"}, "/v1/items/{item_id}": {"get"}, "/v1/items/{item_id}/decisions": {"post"},
        "/v1/items/{item_id}/withdrawals": {"post"}, "/v1/submissions/{submission_id}": {"get"}, "/v1/signals/totals": {"get"},
        "/v1/items/{item_id}/undo": {"post"}, "/v1/statistics": {"get"}, "/v1/spend": {"get"}, "/v1/analytics": {"get"}, "/v1/provenance": {"get"},
        "/v1/mappings": {"get", "post"}, "/v1/mappings/{mapping_id}/submissions": {"post"}, "/v1/records": {"get"}, "/v1/records/{slug}/{table}": {"get", "post", "delete"},
        "/v1/records/{slug}/{table}/row": {"get", "patch"},
    }  # fmt: skip
    assert {path: set(methods) for path, methods in document["paths"].items()} == wanted
    for path, methods in document["paths"].items():
        for name, method in methods.items():
            assert method["summary"] and method["security"], (path, name)
            problem = "#/components/schemas/Problem"
            for code in ("401", "403", "404", "409", "413", "422", "503"):
                schema = method["responses"][code]["content"]["application/json"]["schema"]
                assert schema == {"$ref": problem}, (path, name, code)
    assert "publish_at" in document["components"]["schemas"]["NewDecision"]["properties"]
    [server] = document["servers"]
    assert httpx2.get(stack.urls["console"] + server["url"] + "/v1/items").status_code == 401, (
        "paths are below the server"
    )
