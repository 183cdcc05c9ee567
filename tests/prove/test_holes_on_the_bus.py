"""Holes in the bus: in its configuration, in the running server, in its streams (S3, S9)."""

import asyncio
import os
import re
import shutil
import signal
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig

from infra.nats.provision import connect, stream_config
from infra.nats.topology import streams
from infra.prove.areas.bus_server import check_server
from infra.prove.areas.forging import check_forging
from infra.prove.areas.rights import check_rights
from infra.prove.check import Book
from infra.prove.doing import doors
from infra.prove.doing.doors import FALSE_SERVERS
from infra.prove.target import Target
from shared.bus.connection import Connection
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.prove.conftest import Proving
from tests.prove.planting import Examine, Hole, failures, rows, see

pytestmark = pytest.mark.stack
Edit = Callable[[str], str]


async def site_rights(target: Target, book: Book) -> None:
    await check_rights(target, book, "site")


def sound(text: str) -> str:
    return text


def may_publish(text: str) -> str:
    """The site may speak for the console."""
    return text.replace('"from.site.item.applied"', '"from.site.item.applied", "from.console.item.decided"')


def may_read_decisions(text: str) -> str:
    return text.replace(
        'subscribe: { allow: ["_INBOX_site.>"] }', 'subscribe: { allow: ["_INBOX_site.>", "to.console.>"] }'
    )


def empty_allow(text: str) -> str:
    """What a generator that forgot the rule would write for `nothing`: it means everything."""
    return re.sub(r'publish: \{ allow: \["from\.site[^]]*\] \}', "publish: { allow: [] }", text)


def one_export_more(text: str) -> str:
    return text.replace("exports: [", 'exports: [\n      { service: "to.site.>", accounts: [AGENT] }', 1)


def one_user_more(text: str) -> str:
    return text.replace("jetstream: enabled", 'jetstream: enabled\n    default_permissions: { publish: ">" }', 1)


def responses_allowed(text: str) -> str:
    return text.replace("permissions: { publish:", "permissions: { allow_responses: true, publish:", 1)


def edited(name: str, edit: Edit, found_by: str, examine: Examine = check_server) -> Hole:
    """A configuration that somebody changed and loaded."""

    def load(stack: Stack, change: Edit) -> None:
        conf = stack.layout.nats_conf
        kept = conf.with_name("kept.conf")
        if not kept.exists():
            shutil.copy2(conf, kept)
        conf.write_text(change(kept.read_text()))
        if change is sound:
            kept.replace(conf)
        os.kill(stack.pids()["nats"], signal.SIGHUP)
        stack.becomes_green(20)

    return Hole(name, examine, found_by, lambda stack: load(stack, edit), lambda stack: load(stack, sound))


def agent_may_say_anything(text: str) -> str:
    """What has no entry in the catalogue could be said: a decision on a card, from the agent (S5)."""
    return text.replace('"from.agent.item.proposed"', '"from.agent.>"')


async def agent_rights(target: Target, book: Book) -> None:
    await check_rights(target, book, "agent")


HOLES = [
    edited("an agent that may say anything", agent_may_say_anything, "publish: from.agent.probe.forged", agent_rights),
    edited("one right more", may_publish, "byte for byte"),
    edited("one right more, by using it", may_publish, "publish: from.console.item.decided", site_rights),
    edited("one subscription more, by using it", may_read_decisions, "subscribe: to.console.item.moved", site_rights),
    edited("empty allow list", empty_allow, "nowhere an empty allow list"),
    edited("empty allow list, by using it", empty_allow, "stream, purge: TO_CONSOLE", site_rights),
    edited("extra export", one_export_more, "byte for byte"),
    edited("default permissions", one_user_more, "no setting: default_permissions"),
    edited("responses allowed", responses_allowed, "no setting: allow_responses"),
]


@pytest.mark.parametrize("hole", [pytest.param(hole, id=hole.name.replace(" ", "-")) for hole in HOLES])
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


def test_a_monitoring_port_is_found(proving: Proving) -> None:
    stack = proving.stack
    text = stack.layout.nats_conf.read_text()
    port = Target.load(stack.state).config.ports["nats"] + 1

    def restart(with_text: str) -> None:
        stack.layout.nats_conf.write_text(with_text)
        stack.back("nats", stack.kill("nats"))

    try:
        restart(f'http: "127.0.0.1:{port}"\n{text}')
        found = failures(rows(check_server, Target.load(stack.state)))
    finally:
        restart(text)
    said = [f"{check.attempt} {check.got}" for check in found]
    assert any("where nats listens" in each and str(port) in each for each in said), said
    assert any("no setting: http" in each for each in said), said
    assert not failures(rows(check_server, Target.load(stack.state)))


def as_admin(stack: Stack, act: Callable[[JetStreamContext], Awaitable[object]]) -> None:
    asyncio.run(_as_admin(stack, act))


async def _as_admin(stack: Stack, act: Callable[[JetStreamContext], Awaitable[object]]) -> None:
    target = Target.load(stack.state)
    client = await connect(target.config.ports["nats"], stack.layout.tls / "ca.pem", stack.layout.admin_seed, "admin")
    try:
        await act(client.jetstream())
    finally:
        await client.close()


def test_a_stream_that_can_be_read_directly_is_found(proving: Proving) -> None:
    sound = next(stream_config(each) for each in streams() if each.name == "TO_SITE")
    loose = sound.evolve(allow_direct=True)
    as_admin(proving.stack, lambda js: js.update_stream(loose))
    found = failures(rows(check_server, Target.load(proving.stack.state)))
    as_admin(proving.stack, lambda js: js.update_stream(sound))
    assert any("settings of TO_SITE" in check.attempt and "allow_direct" in check.got for check in found)
    assert not failures(rows(check_server, Target.load(proving.stack.state)))


def test_a_reader_too_many_is_found(proving: Proving) -> None:
    listener = ConsumerConfig(name="listener", filter_subject="to.agent.>", inactive_threshold=1.0)
    as_admin(proving.stack, lambda js: js.add_consumer("TO_AGENT", listener))
    found = failures(rows(check_server, Target.load(proving.stack.state)))
    assert any("consumers of TO_AGENT" in check.attempt and "listener" in check.got for check in found)
    until(lambda: not failures(rows(check_server, Target.load(proving.stack.state))), 20, "the reader is gone")


def test_a_forged_reply_that_lands_in_a_stream_is_found(proving: Proving) -> None:
    """A site that shares the account of the streams: its forged replies are answered into them."""

    def shared(text: str) -> str:
        user = re.search(r"\{ nkey: \w+, permissions: \{ publish: \{ allow: \[\"from\.site.*", text)
        assert user is not None
        moved = user.group().replace("HUB.API", "$JS.API")
        text = text.replace(user.group(), '{ user: "nobody", password: "nobody" }')
        return text.replace("users: [", f"users: [\n      {moved.replace('$JS.API', 'HUB.API')}", 1)

    hole = edited("shared account", shared, "forged reply", check_forging)
    see(hole, proving.stack)


@pytest.mark.parametrize("door", FALSE_SERVERS)
def test_a_client_that_believes_any_server_is_found(
    proving: Proving, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """A false server on the port (S9): our own client, made careless."""
    attempt = [{"door": door}]
    assert asyncio.run(doors.do(proving.stack.layout.state, attempt))[0]["got"] == "refused"
    sound_options = Connection._options

    def careless(connection: Connection) -> dict[str, Any]:
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        return {**sound_options(connection), "tls": trust, "tls_handshake_first": False}

    monkeypatch.setattr(Connection, "_options", careless)
    assert asyncio.run(doors.do(proving.stack.layout.state, attempt))[0]["got"] == "done"
