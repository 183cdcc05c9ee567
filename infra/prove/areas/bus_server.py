"""The running NATS server: its configuration is the generated one, and it listens where it must and nowhere else (S9)."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from nats.js.errors import NotFoundError

from infra.local.keys import bus_users
from infra.nats.config import render
from infra.nats.provision import REPLICAS, connect, consumer_config, stream_config
from infra.nats.topology import durables, streams
from infra.observe.bus import apart, parts_here, place_of, plain
from infra.observe.listening import started_at
from infra.observe.processes import addresses_of
from infra.prove.areas.processes import listens_as_itself
from infra.prove.check import IN_CONTAINERS, Book
from infra.prove.target import Target

FORBIDDEN = ("cluster", "system_account", "allow_responses", "no_auth_user", "websocket", "mqtt", "leafnodes", "gateway", "http", "https", "monitor_port", "password", "token", "operator", "resolver", "include", "lib_profiling", "default_permissions", "auth_callout", "prof_port", "allow_non_tls")  # fmt: skip


async def check_server(target: Target, book: Book) -> None:
    for part in parts_here(target):
        await _server(target, book, part)
    _certificate(target, book)
    await _streams(target, book)


async def _server(target: Target, book: Book, part: str) -> None:
    layout, several = target.layout, len(target.config.bus) > 1
    text = layout.bus_conf(part).read_text()
    expected = render(place_of(target, part), bus_users(layout, cluster=target.config.cluster))
    book.holds("config", f"{part}.conf is what the catalogue gives, byte for byte", _first_difference(expected, text))
    book.holds(
        "config",
        "nowhere an empty allow list, which would allow everything",
        ", ".join(re.findall(r"\w+\s*:?\s*\{?\s*allow\s*:?\s*\[\s*\]", text)),
    )
    for word in FORBIDDEN[2:] if several else FORBIDDEN:
        found = re.findall(rf"^\s*{word}\b.*|[{{,]\s*{word}\b[^,}}]*", text, re.M)
        book.holds("config", f"no setting: {word}", "; ".join(found)[:200])
    if target.config.containers:
        book.open("server", "its process, and where it listens", "as designed", IN_CONTAINERS)
    else:
        listening = await listens_as_itself(target, part)
        book.same("server", f"where {part} listens", sorted(addresses_of(target.config, part)), listening)
        _process(target, book, part)


def _first_difference(expected: str, got: str) -> str:
    if expected == got:
        return ""
    wanted, found = expected.splitlines(), got.splitlines()
    extra = [line.strip() for line in found if line not in wanted]
    missing = [line.strip() for line in wanted if line not in found]
    return f"added: {extra[:3]}, missing: {missing[:3]}"


def _process(target: Target, book: Book, part: str) -> None:
    pid, conf = target.pids.get(part, 0), target.layout.bus_conf(part)
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]
    book.same("server", f"the command line of {part}", ["-c", str(conf)], command[1:])
    book.same("server", f"who runs {part}", target.who.uids["nats"], Path(f"/proc/{pid}").stat().st_uid)
    late = conf.stat().st_mtime > started_at(pid) + 1
    book.holds(
        "server",
        f"{part} was started with this configuration",
        f"{conf.name} was written after the server's start" if late else "",
    )


def _certificate(target: Target, book: Book) -> None:
    public = json.loads(target.layout.public_keys.read_text())
    found = hashlib.sha256((target.layout.tls / "ca.pem").read_bytes()).hexdigest()
    book.same("server", "the pinned certificate is the published one", public.get("nats_ca_sha256"), found)


async def _streams(target: Target, book: Book) -> None:
    client = await connect(target.config.bus, target.layout.tls / "ca.pem", target.layout.admin_seed, "admin")
    copies = REPLICAS if len(target.config.bus) > 1 else 1
    try:
        js = client.jetstream(timeout=20)
        for stream in streams():
            info = await js.stream_info(stream.name)
            book.holds(
                "streams",
                f"settings of {stream.name}",
                apart(stream_config(stream, copies).as_dict(), info.config.as_dict()),
            )
            await _consumers(book, js, stream.name, copies)
    finally:
        await client.close()


async def _consumers(book: Book, js: Any, stream: str, copies: int) -> None:
    expected = [each for each in durables() if each.stream == stream]
    names = json.loads((await js._nc.request(f"$JS.API.CONSUMER.NAMES.{stream}", b"{}", timeout=20)).data)
    book.same(
        "streams",
        f"consumers of {stream}",
        sorted(each.name for each in expected),
        sorted(names.get("consumers") or []),
    )
    for each in expected:
        try:
            info = await js.consumer_info(stream, each.name)
        except NotFoundError:
            book.holds("streams", f"settings of {stream} {each.name}", "it is missing")
            continue
        wanted, found = consumer_config(each, copies).as_dict(), info.config.as_dict()
        book.holds("streams", f"settings of {stream} {each.name}", apart(plain(wanted), plain(found)))
