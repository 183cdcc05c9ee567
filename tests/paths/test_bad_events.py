"""BU-01, BU-04 and bad input on the bus: poison is parked with its reason, shown to the operator, and the rest flows."""

import asyncio
import json
import os
from typing import Any
from uuid import uuid4

import pytest

from tests.factories import events
from tests.factories.bus import publish, publish_all, request
from tests.factories.documents import submit
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
SIGNALS = "from.site.signals.recorded"


def views_under(stack: Stack, path: str) -> int:
    return int(
        stack.value("console", f"SELECT coalesce(sum(n), 0)::int AS n FROM app.signal_counts WHERE item_key = '{path}'")
    )


def drop(stack: Stack, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        stack.ask(row["service"], "parked.drop", id=row["id"])


def test_bu_01_the_same_event_id_long_after_has_one_effect(stack: Stack) -> None:
    path = f"/again/{uuid4().hex}"
    body = events.raw(events.views(5, path))
    publish(stack, "site", SIGNALS, body)
    until(lambda: views_under(stack, path) == 5, 15)
    publish_all(stack, "site", SIGNALS, [body] * 4)
    marker = f"/after/{uuid4().hex}"
    publish(stack, "site", SIGNALS, events.raw(events.views(1, marker)))
    until(lambda: views_under(stack, marker) == 1, 15)
    assert views_under(stack, path) == 5


def test_bu_04_poison_among_a_hundred_good_ones(stack: Stack, owner: Person) -> None:
    path, mark = f"/good/{uuid4().hex}", uuid4().hex
    good = [events.raw(events.views(1, path)) for _ in range(100)]
    unknown = events.views(1, path)
    unknown["dataschema"] = "schleuse/site/signals.recorded/v99"
    wrong = events.envelope("site", "signals.recorded", {"batch_id": "no uuid", "signals": [], "mark": mark})
    poison = [f'{{"broken": "{mark}"'.encode(), events.raw(unknown), events.raw(wrong)]
    before = {json.dumps(row, sort_keys=True) for row in stack.parked()}
    publish_all(stack, "site", SIGNALS, [*good[:50], poison[0], poison[1], *good[50:], poison[2]])
    until(lambda: views_under(stack, path) == 100, 10, "the hundred pass at normal speed")

    def fresh() -> list[dict[str, Any]]:
        return [row for row in stack.parked() if json.dumps(row, sort_keys=True) not in before]

    rows = until(lambda: len(found := fresh()) >= 3 and found, 15, "three are parked")
    reasons = " ".join(row["reason"] for row in rows)
    assert "JSON" in reasons and "version" in reasons, reasons
    assert views_under(stack, path) == 100
    status = stack.status()
    assert status["ready"], "parked events do not make it unready"
    assert "parked" in json.dumps(status)
    for row in stack.cli("parked", "list")["parked"]:
        assert stack.cli("parked", "show", row["ref"])["reason"] == row["reason"]
        assert stack.run("parked", "replay", row["ref"]).returncode in (1, 2), "what cannot be read cannot be replayed"
        assert stack.cli("parked", "drop", row["ref"])["dropped"] == row["id"]
    until(lambda: not fresh(), 10, "dropped")


def test_one_bad_signal_is_parked_and_the_others_in_its_batch_count(stack: Stack) -> None:
    path = f"/mixed/{uuid4().hex}"
    event = events.views(3, path)
    event["data"]["signals"].insert(1, {**events.a_view(path), "visitor": "not hex", "kind": "view"})
    before = len(stack.parked())
    publish(stack, "site", SIGNALS, events.raw(event))
    until(lambda: views_under(stack, path) == 3, 15)
    rows = until(lambda: len(found := stack.parked()) > before and found, 10)
    drop(stack, rows)


@pytest.mark.parametrize("text", ["nul \x00", "lone \ud800 surrogate"])
def test_nul_and_lone_surrogates_in_an_event_are_parked_not_stored(stack: Stack, text: str) -> None:
    event = events.views(1, f"/odd/{text}")
    before = len(stack.parked())
    publish(stack, "site", SIGNALS, json.dumps(event).encode())
    rows = until(lambda: len(found := stack.parked()) > before and found, 15)
    drop(stack, rows)
    assert stack.value("console", "SELECT count(*) FROM app.signal_counts WHERE item_key LIKE '/odd/%'") == 0


def test_an_event_over_900_kib_is_parked_or_refused_and_what_follows_flows(stack: Stack) -> None:
    event = events.views(1, "/large")
    event["data"]["padding"] = "x" * (901 * 1024)
    before = len(stack.parked())
    publish(stack, "site", SIGNALS, events.raw(event))
    path = f"/after-large/{uuid4().hex}"
    publish(stack, "site", SIGNALS, events.raw(events.views(2, path)))
    until(lambda: views_under(stack, path) == 2, 15)
    drop(stack, until(lambda: len(found := stack.parked()) > before and found, 10))
    refused = request(stack, "site", SIGNALS, b"x" * (1024 * 1024 + 1))
    assert isinstance(refused, Exception), "the server takes at most 1 MiB"


def test_an_unsigned_event_to_the_console_or_the_site_is_not_read(stack: Stack) -> None:
    """Even the bridge's own account cannot write what readers believe without the envelope key."""
    path = f"/forged/{uuid4().hex}"
    before = len(stack.parked())
    publish(stack, "bridge", "to.console.signals.recorded", events.raw(events.views(3, path)))
    drop(stack, until(lambda: len(found := stack.parked()) > before and found, 15))
    assert views_under(stack, path) == 0


def test_rubbish_on_every_port_and_socket(stack: Stack) -> None:
    asyncio.run(_throw_rubbish(stack))
    assert until(stack.green, 20)
    assert submit(stack, f"# after rubbish {uuid4().hex[:6]}\n\nstill works\n").item_id


async def _throw_rubbish(stack: Stack) -> None:
    base = int(stack.urls["console"].rsplit(":", 1)[1])
    hosts = (("127.0.0.1", base), ("127.0.0.1", base + 1), ("127.0.0.2", base + 2), ("127.0.0.1", base + 3))
    sockets = sorted(str(path) for path in stack.layout.run.rglob("*") if path.is_socket())
    assert len(sockets) >= 11, sockets
    loads = [
        b"",
        b"\0" * 100,
        b"{" * 5000,
        b"GET / HTTP/1.1\r\nHost: " + b"a" * 70000,
        os.urandom(4096),
        b'{"verb": 7}\n',
        b'"text"\n',
        b"null\n",
    ]
    for load in loads:
        await asyncio.gather(
            *(_throw(asyncio.open_connection(*host), load) for host in hosts),
            *(_throw(asyncio.open_unix_connection(path), load) for path in sockets),
        )


async def _throw(opening: Any, load: bytes) -> None:
    try:
        async with asyncio.timeout(2):
            reader, writer = await opening
            try:
                writer.write(load)
                writer.write_eof()
                await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError, NotImplementedError):
        return
