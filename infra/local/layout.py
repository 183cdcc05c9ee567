"""The state directory: where everything lies. Nothing but paths and names; making them is `prepare`'s work."""

from dataclasses import dataclass
from pathlib import Path

from schemas.catalogue import SERVICES

VERSION = 4
"""Raised when an older program could not run over what this one leaves. A start over an older state adds what is
missing: keys, settings, columns, checks, streams.

1: the first release. 2: keys of the duties `identity` and `backup`; the lock's record knows undone decisions.
3: keys of the duties `audit`, `witness` and `secrets`; the call audit's entries have more fields; the folder `secrets`.
4: the agent's protected tables, divided by owner, and a function that runs with its owner's rights; the folder `workspace`.
"""

OLDEST = 1
"""The oldest state version that a start upgrades; every step adds, none removes or rewrites."""

DEFAULT_PORT_BASE = 8420
GROUP = "schleuse"
SERVER_USERS = ("pgadm", "nats")
APPS = "apps"
"""The part that runs the code of apps, and its OS user: no keys, no bus, no database (S4)."""
PARTS: tuple[str, ...] = ("postgres", "nats", "bridge", "console", "site", "agent", "connectors", APPS)
"""Everything the supervisor runs, in the order of starting."""

SIGNING_KEYS: dict[str, tuple[str, ...]] = {
    "console": ("decision", "identity", "session"),
    "connectors": ("audit",),
    "bridge": ("gate", "envelope", "witness"),
    "admin": ("backup",),
}
PUBLISHED_DUTIES = ("decision", "identity", "audit", "gate", "envelope", "witness", "backup")
SEALING_KEYS: dict[str, tuple[str, ...]] = {"connectors": ("secrets",)}
"""age identities: what is sealed to their public half, only their holder opens."""
LINK_KEYS: dict[str, tuple[str, ...]] = {"agent": ("links",)}
"""What download links for whoever has them are signed with; the edge has a copy (infra.nginx.links)."""
FINGERPRINT = "fingerprint.key"
FINGERPRINT_HOLDERS = ("connectors", "bridge")
"""Both have the same fingerprint key, made anew at every start (S14)."""
LEAKS = "leaks.key"
LEAKS_HOLDERS = ("console", "bridge")
"""Both have the same key of the leak guard, made anew at a start when it is a week old (S14)."""
SHARED_KEYS = {FINGERPRINT: FINGERPRINT_HOLDERS, LEAKS: LEAKS_HOLDERS}
"""Keys that two services have, that nothing is signed with, and that no backup has."""


def key_files(service: str) -> tuple[str, ...]:
    """What lies in a service's key folder at first; the console's decision keys may become more."""
    duties = (*SIGNING_KEYS.get(service, ()), *SEALING_KEYS.get(service, ()), *LINK_KEYS.get(service, ()))
    return (
        "bus.nk",
        *(f"{duty}.key" for duty in duties),
        *(name for name, holders in SHARED_KEYS.items() if service in holders),
    )


@dataclass(frozen=True)
class Layout:
    """Paths under a state directory. `state` is resolved: the folder itself, never a link to it."""

    state: Path

    @property
    def config(self) -> Path:
        return self.state / "config.json"

    @property
    def lock(self) -> Path:
        return self.state / ".lock"

    @property
    def keys(self) -> Path:
        return self.state / "keys"

    @property
    def admin_seed(self) -> Path:
        return self.keys / "admin" / "bus.nk"

    @property
    def prices(self) -> Path:
        """What models cost here, written by the operator; it may be missing."""
        return self.state / "prices.toml"

    @property
    def public_keys(self) -> Path:
        return self.keys / "public.json"

    @property
    def backup_key(self) -> Path:
        return self.keys / "admin" / "backup.key"

    @property
    def backups(self) -> Path:
        """Which backups follow the gate's log."""
        return self.state / "backups.json"

    @property
    def secrets(self) -> Path:
        """Sealed secrets; the folder is the connectors' own."""
        return self.state / "secrets"

    @property
    def workspace(self) -> Path:
        """Memory and files of each owner of the agent; the folder is the agent's own."""
        return self.state / "workspace"

    @property
    def spool(self) -> Path:
        """Copies of registered downloads: the agent writes, nginx's user reads what it knows the name of."""
        return self.state / "spool"

    @property
    def links_key(self) -> Path:
        return self.keys / "agent" / "links.key"

    @property
    def links_conf(self) -> Path:
        """The edge's copy of it."""
        return self.state / "nginx" / "links.conf"

    @property
    def operator_token(self) -> Path:
        return self.keys / "operator.token"

    @property
    def ingest_token(self) -> Path:
        return self.keys / "ingest.token"

    @property
    def run(self) -> Path:
        return self.state / "run"

    @property
    def pg_socket_dir(self) -> Path:
        return self.run / "pg"

    @property
    def pg(self) -> Path:
        return self.state / "pg"

    @property
    def tls(self) -> Path:
        return self.state / "tls"

    @property
    def nats(self) -> Path:
        return self.state / "nats"

    @property
    def nats_conf(self) -> Path:
        return self.nats / "nats.conf"

    def bus_conf(self, part: str) -> Path:
        """The configuration of one of the bus's servers."""
        return self.nats / f"{part}.conf"

    def bus_store(self, part: str) -> Path:
        return self.nats / f"js{part.removeprefix('nats')}"

    @property
    def pacer_seed(self) -> Path:
        """In a cluster: who may ask the bus's servers for an election (infra.nats.pace)."""
        return self.keys / "pacer" / "bus.nk"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def runtime(self) -> Path:
        return self.state / "runtime"

    @property
    def processes(self) -> Path:
        return self.run / "processes.json"

    @property
    def control(self) -> Path:
        return self.run / "supervisor.sock"

    def health(self, service: str) -> Path:
        return self.run / service / "health.sock"


def user_of(part: str) -> str:
    """The name of the OS user that a part runs as when OS users are separated."""
    base = part.partition("-")[0]
    return {"postgres": "pgadm", "nats": "nats"}.get(base, base)


ALL_USERS: tuple[str, ...] = (*SERVICES, *SERVER_USERS, APPS)
