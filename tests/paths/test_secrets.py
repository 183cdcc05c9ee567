"""Secrets from a person's hand to the wire and nowhere else: put on the command line and in the console, used by exact scope, rotated, narrowed, revoked (SE-01, SE-04)."""

import asyncio
import base64
import json
import os
import pty
import select
import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from shared.asking.asker import Asker
from shared.errors import NotFound, Refused, SchleuseError
from shared.ids import fresh_id
from shared.sealing import read_place, read_recipient, seal
from tests.counterparts.server import LAST_CHUNK, Counterpart, Seen, chunk, head, serving, whole
from tests.factories.asking import asking, decide, declare, entries
from tests.factories.leaks import found_in, plant
from tests.factories.people import Person
from tests.factories.stack import ROOT, Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
MINE = fresh_id().hex[:6]
KEYED, OTHER = f"keyed-{MINE}", f"other-{MINE}"


async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """A provider that is down, hangs, sends people away, streams, and tells nobody the key that it got."""
    path = seen.path.partition("?")[0]
    if path == "/down":
        writer.write(whole(503, b"down"))
    elif path == "/hangs":
        await asyncio.sleep(30)
    elif path.startswith("/away/"):
        writer.write(whole(302, b"", ("Location", f"http://127.0.0.1:{path.removeprefix('/away/')}/elsewhere")))
    elif path == "/slow":
        writer.write(head(200, ("Transfer-Encoding", "chunked")))
        for _ in range(1000):
            writer.write(chunk(b"."))
            await writer.drain()
            await asyncio.sleep(0.01)
        writer.write(LAST_CHUNK)
    elif path == "/old-only" and "old" not in seen.header("x-api-key"):
        writer.write(whole(401, b"no"))
    else:
        writer.write(whole(200, json.dumps({"path": path}).encode(), ("Content-Type", "application/json")))


def put(stack: Stack, place: str, value: str) -> None:
    sealed = seal(read_recipient(stack.layout.public_keys), read_place(place), "api_key", {"key": value})
    told = base64.b64encode(sealed).decode()
    stack.ask("console", "secrets.change", place=place, action="put", type="api_key", sealed=told)


@pytest.fixture(scope="module")
def there(stack: Stack) -> Iterator[Counterpart]:
    with serving(answer) as found:
        for name in (KEYED, OTHER):
            declare(stack, name, base=found.url, auth=["header", "query"], timeout_s=1, paths=["/**"])
        yield found


def refusal(stack: Stack, connector: str, path: str, service: Any = "agent", **more: Any) -> SchleuseError:
    async def use(asker: Asker) -> SchleuseError:
        with pytest.raises(SchleuseError) as found:
            await asker.call(connector, "get", {"path": path}, **more)
        return found.value

    return asking(stack, use, service)


def call(stack: Stack, path: str, secret: str, connector: str = KEYED) -> Any:
    async def use(asker: Asker) -> Any:
        answered = asyncio.ensure_future(asker.call(connector, "get", {"path": path}, secret=secret, wait_s=20))
        await asyncio.to_thread(decide_if_asked, stack, connector, answered)
        return await answered

    return asking(stack, use)


def decide_if_asked(stack: Stack, connector: str, answered: "asyncio.Future[Any]") -> None:
    def settled() -> bool:
        waiting = [
            each
            for each in stack.ask("console", "cards.list", state="pending")["cards"]
            if each["connector"] == connector
        ]
        if waiting:
            decide(stack, connector)
        return bool(waiting) or answered.done()

    until(settled, 20)


def test_a_key_in_the_address_and_in_a_header_shows_up_nowhere_whatever_goes_wrong(
    stack: Stack, there: Counterpart
) -> None:
    """SE-01. The end of the whole run looks for the value everywhere else."""
    value = plant()
    put(stack, f"agent/{KEYED}/planted", value)
    assert call(stack, "/planted", "planted")["json"] == {"path": "/planted"}
    with serving(answer) as elsewhere:
        down = call(stack, "/down", "planted")
        told = [refusal(stack, KEYED, path, secret="planted") for path in ("/hangs", f"/away/{elsewhere.port}")]
        assert not elsewhere.seen, "the redirect leads to another host: nothing goes there, and no key"
    [seen] = [each for each in there.seen if each.path.startswith("/planted")]
    assert seen.header("x-api-key") == value and "key=L3ak%2F7Qz%2Bw9%3DK" in seen.path
    shown = [f"{each!r} {each.message} {each.__cause__!r} {each.__context__!r}" for each in told]
    assert down["status"] == 503 and len([each for each in there.paths() if each.startswith("/down")]) > 1
    assert found_in([*shown, json.dumps(down), json.dumps(entries(stack, KEYED))]) == []
    begun = entries(stack, KEYED, outcome="begun", target=f"GET {there.url}/planted")
    assert [each["secret"] for each in begun] == [f"agent/{KEYED}/planted v1"]


def test_outside_of_its_scope_a_secret_is_as_unknown_as_one_that_never_was(stack: Stack, there: Counterpart) -> None:
    """SE-04."""
    place = f"console/{KEYED}/scoped-{MINE}"
    name = place.rpartition("/")[2]
    put(stack, place, plant())
    tries: list[tuple[Any, str, str]] = [
        ("site", KEYED, name),
        ("agent", KEYED, name),
        ("site", OTHER, name),
        ("console", OTHER, name),
        ("agent", KEYED, place),
        ("agent", KEYED, "0" * 32),
    ]
    for service, connector, asked in tries:
        hidden = refusal(stack, connector, "/scope", service, secret=asked)
        unknown = refusal(stack, connector, "/scope", service, secret="never-was")
        assert isinstance(hidden, NotFound) and hidden.code == unknown.code == "secret_unknown"
        assert hidden.message.replace(asked, "X") == unknown.message.replace("never-was", "X")
    assert len(entries(stack, outcome="refused", status="secret_unknown")) >= 2 * len(tries)
    assert not [each for each in there.paths() if each.startswith("/scope")]


@pytest.mark.parametrize("how", ["narrow", "revoke"])
def test_what_is_taken_back_is_taken_from_running_calls_within_a_second(
    stack: Stack, there: Counterpart, how: str
) -> None:
    name = f"held-{how}-{MINE}"
    place = f"agent/{KEYED}/{name}"
    put(stack, place, plant())
    call(stack, "/fine", name)
    options = {"operations": ["head"]} if how == "narrow" else {}

    async def use(asker: Asker) -> tuple[SchleuseError, float]:
        clock = asyncio.get_running_loop().time
        transport = asker.transport(KEYED, secret=name)
        client = httpx2.AsyncClient(transport=transport, trust_env=False)
        async with client, client.stream("GET", f"https://{KEYED}.connector/slow") as streamed:
            pieces = streamed.aiter_raw()
            await anext(pieces)
            await asyncio.to_thread(stack.ask, "console", "secrets.change", place=place, action=how, **options)
            began = clock()
            with pytest.raises(SchleuseError) as found:
                async for _ in pieces:
                    pass
            return found.value, clock() - began

    error, seconds = asking(stack, use)
    assert seconds < 1
    later = refusal(stack, KEYED, "/fine", secret=name)
    code = {"narrow": "secret_narrowed", "revoke": "secret_revoked"}[how]
    assert isinstance(later, Refused) and (error.code, later.code) == (code, code)


def test_while_versions_overlap_the_old_one_is_tried_once_where_the_new_one_is_not_let_in(
    stack: Stack, there: Counterpart
) -> None:
    name = f"turned-{MINE}"
    place = f"agent/{KEYED}/{name}"

    def shown() -> Any:
        return stack.ask("console", "secrets.show", place=place)

    put(stack, place, f"{plant()}-old")
    call(stack, "/fine", name)
    done = stack.run("secrets", "rotate", place, "--overlap", "1h", "--json", stdin=f"{plant()}-new\n")
    assert json.loads(done.stdout)["current"] == 2, done.stderr
    assert call(stack, "/old-only", name)["json"] == {"path": "/old-only"}
    tried = [each.header("x-api-key")[-3:] for each in there.seen if each.path.startswith("/old-only")]
    assert tried == ["new", "old"]
    until(lambda: all(each["used_at"] for each in shown()["versions"]), 20, "both were used")
    assert [each["state"] for each in shown()["versions"]] == ["replaced", "current"]
    assert found_in([json.dumps(shown())]) == []


def test_a_form_takes_a_value_and_no_page_gives_it_back(stack: Stack, owner: Person) -> None:
    value, name = plant(), f"typed-{MINE}"
    place = f"agent/{KEYED}/user:7/{name}"
    fields: dict[str, Any] = {"type": "basic", "surface": "agent", "connector": KEYED, "owner": "user:7", "name": name, "username": "mara", "secret.password": value}  # fmt: skip
    refused = owner.send("/secrets", "/secrets", **fields)
    assert refused.status_code == 422 and "1 to 500 characters" in refused.text
    expired = Person(owner.base)
    carried = expired.http.post(
        "/secrets", data={**fields, "reason": "r", "token": "x"}, headers={"Origin": owner.base}
    )
    assert carried.status_code == 401 and name in carried.text, "what was typed is carried over a sign-in"
    done = owner.send("/secrets", "/secrets", **fields, reason="a test")
    assert (done.status_code, done.headers["location"]) == (303, f"/secrets/at/{place}#main")
    page = owner.page(f"/secrets/at/{place}")
    again = owner.send("/secrets", "/secrets", **fields, reason="a test")
    assert again.status_code == 409 and "there is a secret" in again.text
    pages = [refused.text, carried.text, done.text, page.text, again.text, owner.page("/secrets").text]
    assert found_in(pages) == [] and "mara" in page.text
    gone = owner.send(f"/secrets/at/{place}", f"/secrets/at/{place}", action="revoke", seen="1", reason="a test")
    assert gone.status_code == 303 and "Revoked" in owner.page(f"/secrets/at/{place}").text


@pytest.mark.long
def test_a_prompt_shows_nothing_of_what_is_typed(stack: Stack) -> None:
    value, place = plant(), f"agent/{KEYED}/user:9/out-smtp-{MINE}"
    words = ["secrets", "put", place, "--type", "smtp", "--set", "host=smtp.example.org", "--state", str(stack.state)]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "infra.cli.main", *words])
    seen = b""
    for asked, answered in [("username: ", "mara"), ("sender: ", "mara@example.org"), ("password: ", value), ("in use", "")]:  # fmt: skip
        seen += read_until(terminal, asked.encode())
        os.write(terminal, f"{answered}\n".encode())
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"version 1 is in use" in seen and b"mara" in seen
    assert found_in([seen.decode()]) == []


def read_until(terminal: int, words: bytes) -> bytes:
    seen = b""
    while words not in seen:
        ready, _, _ = select.select([terminal], [], [], 30)
        assert ready, seen
        seen += os.read(terminal, 1024)
    return seen
