"""The bus as it is generated from the catalogue: who may say and read what, and what no trick gets through."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NoAnswer

from infra.nats.config import Place, render
from infra.nats.provision import connect, provision
from infra.nats.topology import (
    ANSWERER,
    HUB_PREFIX,
    durables,
    inbox,
    publish_rights,
    published_subjects,
    read_durables,
    streams,
)
from schemas.catalogue import EVENTS, SERVICES, SURFACES, from_subject, to_subject
from shared.asking.subjects import ANSWERS
from shared.testing.servers import Servers

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@asynccontextmanager
async def client(servers: Servers, service: str) -> AsyncIterator[Client]:
    layout = servers.layout
    seed = layout.admin_seed if service == "admin" else layout.keys / service / "bus.nk"
    found = await connect(servers.prepared.config.ports["nats"], layout.tls / "ca.pem", seed, service)
    try:
        yield found
    finally:
        await found.close()


def conf(servers: Servers) -> str:
    return servers.layout.nats_conf.read_text()


def test_no_allow_list_is_empty_and_no_other_listener_is_open(nats: Servers) -> None:
    text = conf(nats)
    assert not re.search(r"allow:\s*\[\s*\]", text)
    for word in (
        "http",
        "monitor",
        "websocket",
        "mqtt",
        "leafnodes",
        "cluster",
        "no_auth_user",
        "allow_responses",
        "gateway",
    ):
        assert not re.search(rf"(^|[{{,])\s*{word}", text, re.M), f"a setting {word}; in a subject it may stand"
    assert "sync_interval: always" in text
    assert 'listen: "127.0.0.1:' in text


def test_a_user_without_subjects_is_denied_everything(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = Place(1, tmp_path_factory.getbasetemp(), tmp_path_factory.getbasetemp(), tmp_path_factory.getbasetemp())
    text = render(place, dict.fromkeys((*SERVICES, "admin"), "U"))
    assert text.count("permissions:") == len(SERVICES) + 1


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_every_event_has_a_way(event: object) -> None:
    from schemas.catalogue import Event  # noqa: PLC0415 - for the type only

    assert isinstance(event, Event)
    ways = {subject for each in durables() for subject in each.subjects}
    if event.crosses:
        assert from_subject(event.owner, event.name) in ways
    for reader in event.readers:
        assert reader == "bridge" or to_subject(reader, event.name) in ways


async def stored(admin: Client, stream: str) -> int:
    """How many messages a stream ever took."""
    return (await admin.jetstream().stream_info(stream)).state.last_seq


@pytest.mark.parametrize("service", SERVICES)
async def test_a_service_says_only_what_the_catalogue_gives_it(nats: Servers, service: str) -> None:
    foreign = [subject for other in SERVICES if other != service for subject in published_subjects(other)]
    async with client(nats, "admin") as admin, client(nats, service) as me:
        before = [await stored(admin, stream.name) for stream in streams()]
        for subject in [*foreign, f"from.{service}.made.up", f"to.{service}.made.up"]:
            await me.publish(subject, b"{}")
        await me.flush()
        assert [await stored(admin, stream.name) for stream in streams()] == before


API_ATTACKS = (
    "STREAM.INFO.{s}",
    "STREAM.PURGE.{s}",
    "STREAM.DELETE.{s}",
    "STREAM.MSG.GET.{s}",
    "STREAM.MSG.DELETE.{s}",
    "DIRECT.GET.{s}",
    "CONSUMER.CREATE.{s}.x",
    "CONSUMER.DELETE.{s}.bridge",
    "STREAM.UPDATE.{s}",
    "STREAM.CREATE.{s}",
)


@pytest.mark.parametrize("service", SERVICES)
async def test_a_service_gets_no_answer_from_the_administration(nats: Servers, service: str) -> None:
    async with client(nats, service) as me:
        for stream in streams():
            asked = [
                f"{prefix}.{attack.format(s=stream.name)}"
                for attack in API_ATTACKS
                for prefix in ("$JS.API", HUB_PREFIX)
            ]
            assert all(await asyncio.gather(*(unanswered(me, subject) for subject in asked)))


async def unanswered(me: Client, subject: str) -> bool:
    try:
        await me.request(subject, b"{}", timeout=0.1)
    except (NoAnswer, NoRespondersError):
        return True
    return False


@pytest.mark.parametrize("service", SERVICES)
async def test_a_service_pulls_from_its_own_durables_only(nats: Servers, service: str) -> None:
    prefix = HUB_PREFIX
    mine, foreign = read_durables(service), [each for each in durables() if each.reader != service]
    async with client(nats, service) as me:
        answers = await asyncio.gather(
            *(unanswered(me, each.api(verb, prefix)) for each in foreign for verb in ("INFO", "MSG.NEXT"))
        )
        assert all(answers)
        for each in mine:
            assert (await me.request(each.api("INFO", prefix), b"", timeout=60)).data


async def test_a_forged_reply_subject_writes_and_purges_nothing(nats: Servers) -> None:
    """The reply subject names what an answer shall do; with one account per service it is rewritten on the way."""
    async with client(nats, "admin") as admin, client(nats, "site") as site:
        before = [await stored(admin, stream.name) for stream in streams()]
        nexts = f"{HUB_PREFIX}.CONSUMER.MSG.NEXT.TO_SITE.site"
        for reply in (
            "$JS.API.STREAM.PURGE.FROM_CONSOLE",
            "$JS.API.STREAM.DELETE.TO_SITE",
            "to.console.item.moved",
            "from.console.item.decided",
            "to.site.item.published",
        ):
            await site.publish(nexts, b'{"batch":1,"no_wait":true}', reply=reply)
            await site.publish(f"{HUB_PREFIX}.CONSUMER.INFO.TO_SITE.site", b"", reply=reply)
            await site.publish("from.site.row.rejected", b"forged", reply=reply)
        await site.flush()
        after = [await stored(admin, stream.name) for stream in streams()]
    grown = {stream.name: now - was for stream, was, now in zip(streams(), before, after, strict=True) if now != was}
    assert set(grown) <= {"FROM_SITE"}
    await drained(nats, "FROM_SITE")


async def drained(servers: Servers, stream: str) -> None:
    """Acknowledge what a test left, so that the next one starts from nothing."""
    async with client(servers, "bridge") as bridge:
        js = bridge.jetstream(prefix=HUB_PREFIX)
        for each in read_durables("bridge"):
            if each.stream == stream:
                pull = await js.pull_subscribe(
                    "", durable=each.name, stream=stream, inbox_prefix=f"{inbox('bridge')}.".encode()
                )
                while (await pull.consumer_info()).num_pending:
                    for message in await pull.fetch(100, timeout=1):
                        await message.ack_sync()


async def test_a_foreign_inbox_and_a_wildcard_are_closed(nats: Servers) -> None:
    async with client(nats, "site") as site, client(nats, "console") as console:
        heard: list[bytes] = []

        async def hear(message: Msg) -> None:
            heard.append(message.data)

        for subject in (">", "from.>", "to.site.>", "_INBOX_console.>", "$SYS.>", "$JS.EVENT.>"):
            await site.subscribe(subject, cb=hear)
        await site.flush()
        await console.publish(f"{inbox('console')}.x", b"secret")
        await console.flush()
        await site.flush()
    assert heard == []


async def test_provisioning_again_changes_nothing(nats: Servers) -> None:
    await provision(nats.prepared.config.ports["nats"], nats.layout.tls / "ca.pem", nats.layout.admin_seed)
    async with client(nats, "admin") as admin:
        js = admin.jetstream()
        for stream in streams():
            config = (await js.stream_info(stream.name)).config
            assert (config.deny_delete, config.allow_direct, config.max_age) == (True, False, 0)
        for each in durables():
            assert (await js.consumer_info(each.stream, each.name)).config.filter_subjects in (
                list(each.subjects),
                None,
            )


async def test_another_certificate_is_not_trusted(nats: Servers, tmp_path_factory: pytest.TempPathFactory) -> None:
    from infra.nats.certificate import make  # noqa: PLC0415 - a fake bus is made here only

    other = tmp_path_factory.mktemp("fake") / "ca.pem"
    other.write_text(make()[0])
    with pytest.raises(Exception, match=r"(?i)certificate|ssl|no servers"):
        await asyncio.wait_for(
            connect(nats.prepared.config.ports["nats"], other, nats.layout.keys / "site" / "bus.nk", "site"), 10
        )


@pytest.mark.parametrize("service", SURFACES)
def test_rights_name_single_subjects(service: str) -> None:
    for right in publish_rights(service):
        answering = (service, right) == (ANSWERER, ANSWERS)  # the server's own subjects, which lead to whoever asked
        assert not right.endswith(".>") or right.startswith("$JS.ACK.") or answering
