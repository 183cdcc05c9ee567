"""The example consumers in Python and Node, each in the place of a service: published documents, credentials, and nothing else."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import nats
import pytest

from schemas.catalogue import Event, read_by, to_subject
from schemas.envelope import Envelope
from shared.bus.connection import pinned
from shared.outbox.seal import HEADER, Sealer
from shared.signing import SigningKey
from shared.testing.servers import Servers, free_port_base, new_servers, short_folder
from tests.contracts import vectors
from tests.contracts.contracts import ROOT, example_path

CONSUMERS = ROOT / "consumers"
MODULES = ROOT.parent / ".cache" / "node" / "node_modules"
LANGUAGES = ("python", "node")


@pytest.fixture(scope="module")
def bus() -> Iterator[Servers]:
    """A bus with streams and durables, and no service that reads them."""
    state = short_folder("bus")
    servers = new_servers(state, free_port_base())
    try:
        servers.start_nats()
        yield servers
    finally:
        servers.stop()
        shutil.rmtree(state, ignore_errors=True)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The consumer as a stranger has it: its folder, with its packages installed."""
    if not (MODULES / "@nats-io" / "jetstream").is_dir() or not shutil.which("node"):
        pytest.skip("the consumer's packages are not in .cache (npm could not be used); the one in Node was not tried")
    folder = tmp_path_factory.mktemp("consumer")
    shutil.copy(CONSUMERS / "node" / "read.mjs", folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").symlink_to(MODULES)
    return folder / "read.mjs"


@pytest.fixture(params=LANGUAGES)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    if request.param == "node":
        return ["node", str(request.getfixturevalue("node"))]
    shutil.copy(CONSUMERS / "python" / "read.py", tmp_path)
    return [sys.executable, "-I", str(tmp_path / "read.py")]


@dataclass(frozen=True)
class Sent:
    """One message as the bridge's account puts it into a stream."""

    subject: str
    body: bytes
    seal: str = ""


def golden(service: str) -> list[tuple[Event, Envelope]]:
    """One event of every kind that the service reads, with fresh ids."""
    found = []
    for event in sorted(read_by(service), key=lambda event: event.name):
        example = Envelope.from_bytes(example_path(event, event.version).read_bytes())
        found.append((event, example.model_copy(update={"id": uuid4(), "key": str(uuid4())})))
    return found


def sealed(sealer: Sealer, messages: list[tuple[str, bytes]]) -> list[Sent]:
    seals = sealer.seal(messages)
    return [Sent(subject, body, seal) for (subject, body), seal in zip(messages, seals, strict=True)]


def put(bus: Servers, messages: list[Sent]) -> None:
    """Into the stream, as whoever has the bridge's credentials."""

    async def publish() -> None:
        settings = bus.settings("bridge")
        client = await nats.connect(
            settings.nats_urls, tls=pinned(settings), tls_hostname="localhost", tls_handshake_first=True, nkeys_seed=str(settings.bus_seed), inbox_prefix=b"_INBOX_bridge"
        )  # fmt: skip
        try:
            for each in messages:
                headers = {"Nats-Msg-Id": str(uuid4())} | ({HEADER: each.seal} if each.seal else {})
                answer = await client.request(each.subject, each.body, timeout=60, headers=headers)
                assert b'"error"' not in answer.data, answer.data
        finally:
            await client.close()

    asyncio.run(publish())


def run(bus: Servers, program: list[str], service: str, **other: str) -> subprocess.CompletedProcess[str]:
    given = {
        "asyncapi": ROOT / "asyncapi" / f"{service}.json",
        "snapshots": ROOT / "snapshots",
        "ca": bus.layout.tls / "ca.pem",
        "keys": bus.layout.public_keys,
        "seed": bus.layout.keys / service / "bus.nk",
        "server": f"127.0.0.1:{bus.prepared.config.ports['nats']}",
        "wait": "0.3" if "python" in program[0] else "1",
    } | other
    options = [word for name, value in given.items() for word in (f"--{name}", str(value))]
    return subprocess.run([*program, *options], capture_output=True, text=True, timeout=60, cwd="/", check=False)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def the_bridge(bus: Servers) -> Sealer:
    return Sealer(SigningKey.load(bus.layout.keys / "bridge" / "envelope.key"))


def read_all(bus: Servers, program: list[str], service: str) -> None:
    """Every kind of event, then the first once more, and an older one of the same thing."""
    events = golden(service)
    event, newest = events[0]
    older = newest.model_copy(update={"id": uuid4(), "keyversion": newest.keyversion - 1})
    sent = [*events, (event, newest), (event, older)]
    messages = [(to_subject(service, event.name), each.to_bytes()) for event, each in sent]
    put(bus, sealed(the_bridge(bus), messages))
    done = run(bus, program, service)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]
    found = lines(done.stdout)
    assert {each["id"] for each in found if each["applied"]} == {str(each.id) for _, each in events}
    assert [each["id"] for each in found if not each["applied"]] == [str(newest.id), str(older.id)]


def test_a_stranger_applies_every_event_once(bus: Servers, program: list[str]) -> None:
    read_all(bus, program, "site")


@pytest.mark.long
@pytest.mark.parametrize("service", ["agent", "console"])
def test_a_stranger_in_any_services_place(bus: Servers, program: list[str], service: str) -> None:
    read_all(bus, program, service)


def test_what_the_bridge_did_not_seal_is_refused(bus: Servers, program: list[str]) -> None:
    [(event, good)] = [each for each in golden("site") if each[0].name == "item.retracted"]
    subject, bridge = to_subject("site", event.name), the_bridge(bus)
    body = good.to_bytes()
    [one] = sealed(bridge, [(subject, body)])
    two = sealed(bridge, [(subject, body), (subject, good.model_copy(update={"keyversion": 90}).to_bytes())])
    wrong_duty = Sealer(SigningKey.load(bus.layout.keys / "console" / "decision.key"))
    not_ours = json.loads(body) | {"source": "/site"}
    unfit = json.loads(body) | {"data": {"item_id": "none"}}
    unknown = json.loads(body) | {"dataschema": "schleuse/bridge/item.retracted/v9"}
    forged = [
        Sent(subject, body),
        Sent(subject, body.replace(b'"specversion":"1.0"', b'"specversion": "1.0"'), one.seal),
        Sent(to_subject("site", "item.published"), body, one.seal),
        Sent(subject, body, two[1].seal),
        *sealed(wrong_duty, [(subject, body)]),
        *sealed(Sealer(vectors.a_key("envelope")), [(subject, body)]),
        *sealed(bridge, [(subject, json.dumps(each).encode()) for each in (not_ours, unfit, unknown)]),
        *sealed(bridge, [(subject, b"no json")]),
        *sealed(bridge, [(to_subject("site", "item.published"), body)]),
    ]
    put(bus, [*forged[:4], two[0], *forged[4:]])
    done = run(bus, program, "site")
    assert done.returncode == 1
    assert [each["id"] for each in lines(done.stdout)] == [str(good.id)]
    assert len(done.stderr.splitlines()) == len(forged), done.stderr
    if program[0] != "node":  # it waits a second more
        again = run(bus, program, "site")
        assert (again.returncode, again.stdout, again.stderr) == (0, "", ""), "nothing of it comes again"


def test_a_server_that_is_not_the_installations_is_not_believed(
    bus: Servers, program: list[str], tmp_path: Path
) -> None:
    from infra.nats.certificate import make  # noqa: PLC0415 - only here

    other = tmp_path / "other.pem"
    other.write_text(make()[0])
    done = run(bus, program, "agent", ca=str(other))
    assert done.returncode not in (0, 2) and "certificate" in done.stderr.lower()


HARNESS = {
    "python": """
import json, sys
sys.path.insert(0, sys.argv[1])
import read
found = json.load(open(sys.argv[2]))
seals = read.Seals(found["keys"])
def good(each):
    try:
        seals.check(each["seal"], each["subject"], each["body"].encode())
    except read.Refused:
        return False
    return True
print(json.dumps({kind: [good(each) for each in found[kind]] for kind in ("good", "forged")}))
""",
    "node": """
import { readFileSync } from "node:fs";
const { Seals } = await import(process.argv[2] + "/read.mjs");
const found = JSON.parse(readFileSync(process.argv[3], "utf8"));
const seals = new Seals(found.keys);
const good = (each) => { try { seals.check(each.seal, each.subject, Buffer.from(each.body)); return true; } catch { return false; } };
console.log(JSON.stringify({ good: found.good.map(good), forged: found.forged.map(good) }));
""",
}


def test_the_seals_examples_come_out_right(program: list[str], tmp_path: Path) -> None:
    language = "node" if program[0] == "node" else "python"
    script = tmp_path / ("try.mjs" if language == "node" else "try.py")
    script.write_text(HARNESS[language])
    command = [*program[:-1], str(script), str(Path(program[-1]).parent), str(vectors.PATH)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, cwd="/")
    found = json.loads(done.stdout)
    assert all(found["good"]) and not any(found["forged"])
