"""Programs at the agent: keys that open as a person, as much as the person may, and nothing a second later; settings that count at once (S8, rules 1, 6, 24)."""

import threading
import time
from collections.abc import Iterator
from uuid import uuid4

import httpx2
import pytest

from shared.operator import call
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

WITHIN = 1.0
"""Seconds until what was taken back opens nothing (S8)."""


class Program:
    """One that has a key, at the workspace's API."""

    def __init__(self, stack: Stack, key: str) -> None:
        self.http = httpx2.Client(
            base_url=stack.urls["workspace"], headers={"Authorization": f"Bearer {key}"}, timeout=30
        )

    def status(self) -> int:
        return self.http.get("/api/v1/me").status_code

    def me(self) -> dict[str, object]:
        found: dict[str, object] = self.http.get("/api/v1/me").json()
        return found

    def cap(self) -> float | None:
        spending = self.me()["spending"]
        assert isinstance(spending, dict)
        return None if spending["cap"] is None else float(spending["cap"])


@pytest.fixture
def kim(owner: Person) -> Person:
    return owner.add("member", f"Kim {uuid4().hex[:6]}")


@pytest.fixture
def program(stack: Stack, kim: Person) -> Iterator[Program]:
    args = {"kind": "apikey", "handle": kim.handle, "name": "Editor"}
    made = Program(stack, call(stack.state, "console", "access.create", args)["key"])
    until(lambda: made.status() == 200, 5, "the agent has heard of it")
    yield made
    made.http.close()


def gone_within(program: Program, seconds: float) -> None:
    begun = time.monotonic()
    until(lambda: program.status() == 401, seconds, "the key opens nothing")
    assert time.monotonic() - begun < seconds


def change(stack: Stack, person: Person, **what: object) -> None:
    call(stack.state, "console", "people.change", {"handle": person.handle, **what})


def set_cap(stack: Stack, person: Person, value: str) -> None:
    call(stack.state, "console", "agent.set", {"name": "cap", "subject": person.handle, "value": value})


def test_a_key_opens_as_its_person_until_it_is_revoked(stack: Stack, kim: Person) -> None:
    program = Program(stack, stack.cli("apikey", "create", kim.handle, "--name", "Editor")["key"])
    assert (program.me()["kind"], program.me()["role"]) == ("user", "member")
    [held] = [each for each in stack.cli("apikey", "list")["keys"] if each["handle"] == kim.handle]
    assert (held["role"], held["made_by"], held["expires_at"]) == ("member", "Operator", None)
    ended = threading.Event()

    def listen() -> None:
        with program.http.stream("GET", f"/api/v1/conversations/{conversation}/events") as answer:
            for _ in answer.iter_raw():
                pass
        ended.set()

    conversation = program.http.post("/api/v1/turns", json={"text": "hello", "wait": True}).json()["conversation_id"]
    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    stack.cli("apikey", "revoke", held["id"])  # returns when the agent has heard of it
    assert program.status() == 401
    assert ended.wait(WITHIN), "its open stream is over, too"
    assert program.http.post("/api/v1/turns", json={"text": "hello"}).status_code == 401
    program.http.close()


def test_a_key_is_no_more_than_its_person_is_now(stack: Stack, kim: Person, program: Program) -> None:
    change(stack, kim, role="viewer")
    until(lambda: program.me()["role"] == "viewer", WITHIN, "the lost role is lost")
    change(stack, kim, role="admin")
    until(lambda: program.me()["role"] == "member", WITHIN, "the key was made for a member")
    change(stack, kim, disabled=True)
    gone_within(program, WITHIN)
    change(stack, kim, disabled=False)
    until(lambda: program.status() == 200, 5, "who is let in again has the key again")
    call(stack.state, "console", "people.sign_out", {"handle": kim.handle, "tokens": True})
    gone_within(program, WITHIN)


def test_a_person_makes_and_revokes_keys_on_the_page_about_oneself(stack: Stack, kim: Person) -> None:
    page = kim.send("/me/access", "/me", name="My editor", role="viewer", days="30").text
    key = page.split('<code class="wrap">')[1].split("</code>")[0]
    program = Program(stack, key)
    until(lambda: program.status() == 200, 5, "the agent has heard of it")
    assert program.me()["role"] == "viewer"
    assert key not in kim.page("/me").text, "it is shown once"
    where = kim.page("/me").text.split('action="/me/access/')[1].split('"')[0]
    assert kim.send(f"/me/access/{where}", "/me").status_code == 303
    gone_within(program, WITHIN)
    program.http.close()


def test_a_cap_that_is_set_counts_within_a_second(stack: Stack, kim: Person, program: Program) -> None:
    before = program.cap()
    stack.cli("agent", "set", "cap", kim.handle, "0.25", "--reason", "a trial")
    until(lambda: program.cap() == 0.25, WITHIN, "it counts")
    set_cap(stack, kim, "none")
    until(lambda: program.cap() is None, WITHIN, "no limit")
    set_cap(stack, kim, "")
    until(lambda: program.cap() == before, WITHIN, "as everybody")
    assert stack.run("agent", "set", "cap", "users", "-1").returncode == 2


def test_the_browsers_zone_is_kept_and_an_unknown_one_is_said(program: Program) -> None:
    assert program.http.put("/api/v1/me/zone", json={"zone": "Pacific/Auckland"}).json() == {
        "zone": "Pacific/Auckland",
        "notice": "",
    }
    said = program.http.put("/api/v1/me/zone", json={"zone": "Moon/Base"}).json()
    assert said["zone"] == "Pacific/Auckland" and "Moon/Base" in said["notice"]
    assert program.me()["zone"] == "Pacific/Auckland"


def test_the_agent_may_act_for_whoever_has_a_key(stack: Stack, kim: Person, program: Program) -> None:
    kim.id = str(stack.value("console", f"SELECT id FROM app.people WHERE handle = '{kim.handle}'"))
    held = "SELECT count(*) FROM core.delegations WHERE owner_kind = 'user' AND owner_id = "
    answer = stack.ask_database("pgadm", "agent_db", f"{held}'{kim.id}' AND expires_at > now() + interval '11 hours'")
    assert answer == [{"count": 1}]
