"""nats.conf, generated. One account per service; no monitoring, websocket, MQTT or leaf listener, no default user (S9)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.nats.topology import (
    ADMIN_PUBLISHES,
    HUB,
    HUB_PREFIX,
    Durable,
    account,
    exported_subjects,
    inbox,
    publish_rights,
    read_durables,
    streams,
    subscribe_rights,
)
from schemas.catalogue import SERVICES

MAX_STREAM_BYTES = 2 * 1024**3
MAX_PAYLOAD = 1024**2


@dataclass(frozen=True)
class Place:
    """Where the server listens and keeps its things."""

    port: int
    store: Path
    certificate: Path
    key: Path


def render(place: Place, users: Mapping[str, str]) -> str:
    """The whole file. `users`: public nkey of each service and of `admin`."""
    accounts = [_hub(users), *(_service(service, users[service]) for service in SERVICES)]
    return "\n".join([_server(place), "accounts {", *accounts, "}", ""])


def _server(place: Place) -> str:
    room = (len(streams()) + 1) * MAX_STREAM_BYTES
    return f"""listen: "127.0.0.1:{place.port}"
server_name: "schleuse"
tls {{ cert_file: {_quoted(place.certificate)}, key_file: {_quoted(place.key)}, min_version: "1.3", timeout: 5, handshake_first: true }}
jetstream {{ store_dir: {_quoted(place.store)}, max_mem: 64MB, max_file: {room}, sync_interval: always }}
max_payload: {MAX_PAYLOAD}
max_connections: 128
write_deadline: "10s"
"""


def _hub(users: Mapping[str, str]) -> str:
    exports: list[str] = []
    for service in SERVICES:
        only = f"accounts: [{account(service)}]"
        exports += [f"{{ service: {_quoted(subject)}, {only} }}" for subject in exported_subjects(service)]
        for each in read_durables(service):
            exports.append(f"{{ service: {_quoted(each.api('MSG.NEXT'))}, response_type: stream, {only} }}")
            exports += [f"{{ service: {_quoted(subject)}, {only} }}" for subject in (each.api("INFO"), *each.acks)]
    admin = _user(users["admin"], ADMIN_PUBLISHES, (f"{inbox('admin')}.>",))
    return _block(HUB, ["jetstream: enabled", *_listed("users", [admin]), *_listed("exports", exports)])


def _service(service: str, nkey: str) -> str:
    imports = [_import(subject) for subject in exported_subjects(service)]
    for each in read_durables(service):
        imports += _imports(each)
    user = _user(nkey, publish_rights(service), subscribe_rights(service))
    return _block(account(service), [*_listed("users", [user]), *_listed("imports", imports)])


def _imports(each: Durable) -> list[str]:
    renamed = [_import(each.api(verb), each.api(verb, HUB_PREFIX)) for verb in ("MSG.NEXT", "INFO")]
    return [*renamed, *(_import(subject) for subject in each.acks)]


def _import(subject: str, to: str | None = None) -> str:
    renamed = f", to: {_quoted(to)}" if to else ""
    return f"{{ service: {{ account: {HUB}, subject: {_quoted(subject)} }}{renamed} }}"


def _user(nkey: str, publish: Iterable[str], subscribe: Iterable[str]) -> str:
    return f"{{ nkey: {nkey}, permissions: {{ publish: {_allow(publish)}, subscribe: {_allow(subscribe)} }} }}"


def _allow(subjects: Iterable[str]) -> str:
    """An empty allow list means everything to the server: nothing is spelt as a denial of all."""
    listed = ", ".join(_quoted(subject) for subject in subjects)
    return f"{{ allow: [{listed}] }}" if listed else '{ deny: ">" }'


def _listed(name: str, entries: list[str]) -> list[str]:
    return [f"{name}: [", *(f"  {entry}" for entry in entries), "]"]


def _block(name: str, lines: list[str]) -> str:
    return "\n".join([f"  {name} {{", *(f"    {line}" for line in lines), "  }"])


def _quoted(value: str | Path) -> str:
    text = str(value)
    if '"' in text or "\\" in text or "\n" in text:
        raise ValueError(f"{text!r} cannot stand in nats.conf")
    return f'"{text}"'
