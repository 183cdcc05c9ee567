"""DIR/config.json: what every service reads about the installation."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from infra.local import folders
from infra.local.identities import Identities
from infra.local.layout import DEFAULT_PORT_BASE, OLDEST, VERSION, Layout
from shared.errors import Refused

FRONT_PORTS = ("console", "site", "workspace", "nats")
CLUSTER_PORTS = ("nats-2", "nats-3", "nats-route", "nats-2-route", "nats-3-route")
"""What a cluster needs beyond them: the bus's other servers, and the routes between all three."""
HOSTS = {"console": "localhost", "site": "127.0.0.1", "workspace": "127.0.0.2"}
"""Different host names, because cookies ignore ports (S8)."""


class Config(BaseModel):
    """The content of DIR/config.json. Keys that an operator adds by hand (`otlp_endpoint`, `site_base_url`, …) are kept.

    `public_urls`: what people type, by front, where it differs from where the services listen (behind a proxy).
    """

    model_config = ConfigDict(extra="allow")

    version: int = VERSION
    install_id: str
    install_uid: int
    os_separation: bool
    egress_separation: bool = False
    ports: dict[str, int]
    urls: dict[str, str]
    public_urls: dict[str, str] = {}
    listen: dict[str, str] = {}
    nats_servers: list[str] = []
    cluster: bool = False
    users: dict[str, str]
    uids: dict[str, int]
    containers: bool = False
    otlp_endpoint: str | None = None
    site_mode_default: str = "open"
    operator_token_sha256: str = ""
    code_version: str = ""

    @property
    def port_base(self) -> int:
        return self.ports["console"]

    @property
    def bus_ports(self) -> list[int]:
        """Where the bus's servers on this machine listen."""
        return [self.ports[name] for name in ("nats", "nats-2", "nats-3") if name in self.ports]

    @property
    def bus(self) -> list[int | str]:
        """Where the bus's servers are: ports on this machine, or in containers whole addresses."""
        return [*self.nats_servers] if self.containers else [*self.bus_ports]


def site_mode(listen: Iterable[str]) -> str:
    """Of a fresh installation that listens on these addresses: open when no other machine reaches it, else off (rule 27)."""
    return "open" if all(each == "localhost" or ip_address(each).is_loopback for each in listen) else "off"


def ports_from(base: int, *, cluster: bool = False) -> dict[str, int]:
    return {name: base + offset for offset, name in enumerate((*FRONT_PORTS, *(CLUSTER_PORTS if cluster else ())))}


def cluster_of(found: "Config | None", asked: bool | None) -> bool:
    """What the first start chose; only a first start can choose."""
    if found is None or asked is None or asked == found.cluster:
        return found.cluster if found else bool(asked)
    made, wanted = ("a cluster", "a single system") if found.cluster else ("a single system", "a cluster")
    raise Refused(
        f"this state directory was made as {made} and cannot become {wanted}: streams and durables would have to be made anew. "
        f"`schleuse backup` it, and `schleuse restore {'--no-cluster' if found.cluster else '--cluster'}` into another folder. "
        "Nothing was changed.",
        code="cluster",
    )


def urls_from(base: int) -> dict[str, str]:
    ports = ports_from(base)
    return {name: f"http://{host}:{ports[name]}" for name, host in HOSTS.items()}


def port_base_of(found: "Config | None", asked: int | None) -> int:
    """What was asked for, else what it was, else the default. Refused out of range."""
    base = asked if asked is not None else found.port_base if found else DEFAULT_PORT_BASE
    if not 1024 <= base <= 65000:
        raise Refused(f"the port base must lie between 1024 and 65000, not {base}", code="port_base")
    return base


def read(layout: Layout) -> Config | None:
    """None when there is none yet. Refused when a newer version made it; nothing is changed then. An older one is as it was made."""
    try:
        found: dict[str, Any] = json.loads(layout.config.read_text())
    except FileNotFoundError:
        return None
    except (ValueError, UnicodeDecodeError) as error:
        raise Refused(f"{layout.config} is not readable JSON: {error}", code="state_broken") from None
    _refuse_unknown(layout, found.get("version"))
    try:
        return Config(**found)
    except ValidationError as error:
        raise Refused(f"{layout.config} is incomplete: {error.errors()[0]['loc']}", code="state_broken") from None


def write(layout: Layout, who: Identities, port_base: int | None, cluster: bool | None = None) -> Config:
    """Make or refresh the file. A port base that was not asked for stays as it was; whether it is a cluster always stays."""
    old = read(layout)
    base, several = port_base_of(old, port_base), cluster_of(old, cluster)
    ports = ports_from(base, cluster=several)
    kept = old.model_dump() if old else {"install_id": secrets.token_hex(16), "install_uid": os.getuid()}
    if old and old.os_separation != who.separated:
        raise Refused(_mode_changed(layout.state, old.os_separation), code="state_mode")
    changed = {
        "version": VERSION,
        "os_separation": who.separated,
        "ports": ports,
        "cluster": several,
        "urls": urls_from(base) | (old.public_urls if old else {}),
        "listen": HOSTS | (old.listen if old else {}),
        "users": who.users,
        "uids": who.uids,
        "operator_token_sha256": hashlib.sha256(layout.operator_token.read_bytes()).hexdigest(),
    }
    config = Config(**{**kept, **changed})
    if several:
        config.nats_servers = [f"tls://localhost:{port}" for port in config.bus_ports]
    folders.write(layout.config, config.model_dump_json(indent=1), 0o644, (os.getuid(), os.getgid()))
    return config


def note_egress(layout: Layout, found: Config, *, separated: bool) -> Config:
    """Whether only connectors may leave the machine, as of now. Written at once: the services read it when they start."""
    noted = (read(layout) or found).model_copy(update={"egress_separation": separated})
    folders.write(layout.config, noted.model_dump_json(indent=1), 0o644, (os.getuid(), os.getgid()))
    return noted


def _refuse_unknown(layout: Layout, version: object) -> None:
    if isinstance(version, int) and OLDEST <= version <= VERSION:
        return
    newer = isinstance(version, int) and version > VERSION
    what = (
        f"{layout.state} was made by a newer program (state version {version}; this program knows {VERSION}). "
        "Nothing was changed. Start it with that program or a later one"
        if newer
        else f"{layout.state} has state version {version!r}, which this program cannot upgrade (it knows {OLDEST} to {VERSION}). "
        "Nothing was changed. Run the program that made it"
    )
    raise Refused(f"{what}, or name another folder with --state.", code="state_version")


def _mode_changed(state: Path, separated: bool) -> str:
    made, wanted = ("root", "an ordinary user") if separated else ("an ordinary user", "root")
    return f"{state} was made by {made} and cannot be run by {wanted}: its files belong to other OS users. Name another folder with --state."
