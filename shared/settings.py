"""One frozen Settings object per service, read from the state directory; passed, never imported."""

import argparse
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

DATABASES = {
    "agent": "agent_db",
    "console": "console_db",
    "site": "site_db",
    "connectors": "system_db",
    "bridge": "console_site_db",
}
FRONTS = {"console": "console", "site": "site", "agent": "workspace"}


class Settings(BaseModel):
    """Where a service finds its database, bus, keys and sockets. See infra/local for the layout of `state`."""

    model_config = ConfigDict(frozen=True)

    service: str
    state: Path
    install_id: str
    install_uid: int
    os_separation: bool
    egress_separation: bool
    urls: dict[str, str]
    ports: dict[str, int]
    uids: dict[str, int]
    otlp_endpoint: str | None = None
    site_mode_default: str = "open"
    operator_token_sha256: str = ""
    listen: dict[str, str] = {}
    nats_servers: tuple[str, ...] = ()
    cluster: bool = False
    instance: int = 1
    trusted_proxies: tuple[str, ...] = ()
    site_base_url: str | None = None
    dns_servers: tuple[str, ...] = ()
    analytics_url: str | None = None
    restored_at: datetime | None = None
    outward_ca: Path | None = None
    pg_socket_dir: Path
    code_version: str = ""

    @classmethod
    def load(cls, service: str, state: Path, instance: int = 1) -> Self:
        """Read DIR/config.json. FileNotFoundError when DIR is no state directory."""
        state = state.resolve()
        config: dict[str, Any] = json.loads((state / "config.json").read_text())
        known = {name: config[name] for name in cls.model_fields if name in config}
        known.setdefault("pg_socket_dir", state / "run" / "pg")
        return cls(**{**known, "service": service, "state": state, "instance": instance})

    @classmethod
    def from_command_line(cls, service: str) -> Self:
        parser = argparse.ArgumentParser(prog=f"services.{service}")
        parser.add_argument("--state", type=Path, required=True)
        parser.add_argument("--instance", type=int, default=1)
        given = parser.parse_args(sys.argv[1:])
        return cls.load(service, given.state, given.instance)

    @property
    def database(self) -> str:
        return DATABASES[self.service]

    @property
    def host(self) -> str:
        """The address to listen on; what people type is `url`."""
        return self.listen.get(FRONTS[self.service]) or self.url.split("//", 1)[1].rsplit(":", 1)[0]

    @property
    def port(self) -> int:
        """The service's own HTTP port."""
        return self.ports[FRONTS[self.service]]

    @property
    def url(self) -> str:
        return self.urls[FRONTS[self.service]]

    @property
    def nats_urls(self) -> list[str]:
        """Every server of the bus; a client follows whichever answers."""
        return list(self.nats_servers) or [f"tls://localhost:{self.ports['nats']}"]

    @property
    def nats_ca(self) -> Path:
        return self.state / "tls" / "ca.pem"

    @property
    def keys(self) -> Path:
        return self.state / "keys" / self.service

    @property
    def bus_seed(self) -> Path:
        return self.keys / "bus.nk"

    @property
    def public_keys(self) -> Path:
        return self.state / "keys" / "public.json"

    @property
    def secrets(self) -> Path:
        """The connectors' folder of sealed secrets."""
        return self.state / "secrets"

    @property
    def workspace(self) -> Path:
        """The agent's folder of workspaces."""
        return self.state / "workspace"

    @property
    def spool(self) -> Path:
        """The agent's copies of registered downloads, from which nginx reads."""
        return self.state / "spool"

    @property
    def warehouse(self) -> Path:
        """The console's copy of figures in ClickHouse, and the socket of the process that holds it. It can be lost."""
        return self.state / "run" / "console" / "warehouse"

    @property
    def links_key(self) -> Path:
        """What links that work for whoever has them are signed with."""
        return self.keys / "links.key"

    @property
    def part(self) -> str:
        """This process's name: the service, and the number of an instance after the first."""
        return self.service if self.instance == 1 else f"{self.service}-{self.instance}"

    @property
    def instances(self) -> tuple[int, ...]:
        """The numbers of all instances of this service, on one database and behind one port."""
        return (1, 2) if self.cluster else (1,)

    @property
    def run(self) -> Path:
        return self.state / "run" / self.part
