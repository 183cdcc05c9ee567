"""nats.conf, generated. One account per service; no monitoring, websocket, MQTT or leaf listener, no default user (S9)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.nats.topology import (
    ADMIN_PUBLISHES,
    ANSWER_WITHIN,
    ANSWERER,
    HUB,
    HUB_PREFIX,
    PACER_PUBLISHES,
    SYSTEM,
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
from schemas.outward import ASKERS
from shared.asking.subjects import ANSWERED, ask_subject, ask_subjects

MAX_STREAM_BYTES = 2 * 1024**3
MAX_PAYLOAD = 1024**2


@dataclass(frozen=True)
class Routes:
    """The cluster as one of its servers sees it. `peers`: "host:port" of the routes of the others, as the certificate names the hosts."""

    port: int
    peers: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Where a server listens and keeps its things. `routes` makes it one of several; then `name` is its own."""

    port: int
    store: Path
    certificate: Path
    key: Path
    name: str = "schleuse"
    host: str = "127.0.0.1"
    routes: Routes | None = None


def render(place: Place, users: Mapping[str, str]) -> str:
    """The whole file. `users`: public nkey of each service, of `admin`, and in a cluster of `pacer`, where there is one (infra.nats.pace)."""
    accounts = [_hub(users), *(_service(service, users[service]) for service in SERVICES)]
    paced = place.routes is not None and "pacer" in users
    if paced:
        accounts.append(_system(users["pacer"]))
    ending = ["}", f"system_account: {SYSTEM}"] if paced else ["}"]
    return "\n".join([_server(place), *_cluster(place), "accounts {", *accounts, *ending, ""])


def _cluster(place: Place) -> list[str]:
    """Whoever joins must show the installation's own certificate, which only the servers' OS user can."""
    if place.routes is None:
        return []
    peers = [_quoted(f"nats-route://{peer}") for peer in place.routes.peers]
    files = f"cert_file: {_quoted(place.certificate)}, key_file: {_quoted(place.key)}, ca_file: {_quoted(place.certificate)}"
    listed = [
        'name: "schleuse"',
        f'listen: "{place.host}:{place.routes.port}"',
        f'tls {{ {files}, verify: true, min_version: "1.3", timeout: 5 }}',
        "no_advertise: true",
        "connect_retries: 1000",
        *_listed("routes", peers),
    ]
    return ["cluster {", *(f"  {line}" for line in listed), "}"]


def _server(place: Place) -> str:
    room = (len(streams()) + 1) * MAX_STREAM_BYTES
    return f"""listen: "{place.host}:{place.port}"
server_name: {_quoted(place.name)}
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


def _system(nkey: str) -> str:
    """The servers' own account: one user, who may ask who leads and ask for an election, nothing else."""
    return _block(SYSTEM, _listed("users", [_user(nkey, PACER_PUBLISHES, (f"{inbox('pacer')}.>",))]))


def _service(service: str, nkey: str) -> str:
    imports = [_import(subject) for subject in exported_subjects(service)]
    for each in read_durables(service):
        imports += _imports(each)
    imports += [_import(subject, source=account(ANSWERER)) for subject in ask_subjects(service)]
    user = _user(nkey, publish_rights(service), subscribe_rights(service))
    exports = _listed("exports", _asked()) if service == ANSWERER else []
    return _block(account(service), [*_listed("users", [user]), *_listed("imports", imports), *exports])


def _asked() -> list[str]:
    """What may be asked of the connectors, each asker's to its own account alone (S10)."""
    found: list[str] = []
    for asker in ASKERS:
        only = f"accounts: [{account(asker)}]"
        stream = f"response_type: stream, response_threshold: {_quoted(ANSWER_WITHIN)}, "
        for subject in ask_subjects(asker):
            answered = subject in [ask_subject(asker, verb) for verb in ANSWERED]
            found.append(f"{{ service: {_quoted(subject)}, {stream if answered else ''}{only} }}")
    return found


def _imports(each: Durable) -> list[str]:
    renamed = [_import(each.api(verb), each.api(verb, HUB_PREFIX)) for verb in ("MSG.NEXT", "INFO")]
    return [*renamed, *(_import(subject) for subject in each.acks)]


def _import(subject: str, to: str | None = None, source: str = HUB) -> str:
    renamed = f", to: {_quoted(to)}" if to else ""
    return f"{{ service: {{ account: {source}, subject: {_quoted(subject)} }}{renamed} }}"


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
