"""What `doctor` looks at. Nothing here changes anything."""

import asyncio
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from infra.local import config, place, preflight, spool
from infra.local.firewall.choice import NEITHER, backends
from infra.local.instances import base_of, services
from infra.local.layout import DEFAULT_PORT_BASE, Layout
from infra.nats.leaders import leaders
from infra.nats.locate import server as nats_server
from infra.postgres import locate
from schemas.catalogue import SERVICES
from services.agent.spend.overrides import read_overrides
from shared.errors import Refused


@dataclass(frozen=True)
class Finding:
    """`ok`, `note` (works, but know it) or `fail` (will not work)."""

    level: Literal["ok", "note", "fail"]
    what: str
    says: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


NAME_SERVICES = (Path("/run/systemd/resolve/io.systemd.Resolve"), Path("/run/nscd/socket"))
"""Sockets that ask name servers for everybody on the machine: the firewall does not see who asked."""


def examine(named: Path) -> list[Finding]:
    layout = Layout(named.resolve())
    return [*_machine(), *_state(layout)]


def _machine() -> Iterator[Finding]:
    yield Finding(
        "ok" if sys.version_info >= (3, 11) else "fail", "Python", f"{sys.version.split()[0]} ({sys.executable})"
    )
    yield _tried("Postgres", lambda: f"version {locate.major(locate.bin_folder())} in {locate.bin_folder()}")
    yield _tried("NATS server", lambda: str(nats_server()))
    if os.getuid() != 0:
        yield Finding(
            "note",
            "OS users",
            "not root: all parts will run as one OS user, nothing separates them but the databases' and the bus's rights",
        )
    elif shutil.which("setpriv") and Path("/usr/sbin/useradd").exists():
        yield Finding("ok", "OS users", "root: every part gets an OS user of its own")
    else:
        yield Finding("fail", "OS users", "setpriv (util-linux) and useradd are needed to run as root")
    yield _egress()


def _egress() -> Finding:
    tools = " or ".join(each.tool for each in backends())
    if os.getuid() != 0 or not tools:
        why = "that takes OS users of their own" if os.getuid() != 0 else NEITHER
        return Finding(
            "note",
            "Egress",
            f"not separated: nothing keeps parts other than connectors from leaving the machine; {why}",
        )
    said = f"{tools} can keep all parts but connectors from leaving this machine"
    if asked := [str(path) for path in NAME_SERVICES if path.exists()]:
        return Finding("note", "Egress", f"{said}; but any part can have names looked up by {' and '.join(asked)}")
    return Finding("ok", "Egress", said)


def _state(layout: Layout) -> Iterator[Finding]:
    if not layout.state.exists():
        yield Finding("ok", "State", f"{layout.state} does not exist yet; `schleuse up` makes it")
        yield _tried("Ports", lambda: _ports(DEFAULT_PORT_BASE))
        return
    try:
        found = config.read(layout)
    except Refused as error:
        yield Finding("fail", "State", error.message)
        return
    yield _tried("Disk", lambda: _disk(layout, fresh=found is None))
    if found is None:
        yield Finding("ok", "State", f"{layout.state} is empty")
        return
    running = place.held(layout)
    yield Finding("ok", "State", f"version {found.version}, {'running' if running else 'not running'}")
    if not running:
        yield _tried("Ports", lambda: _ports(found.port_base, cluster=found.cluster))
    if running and found.cluster:
        yield _streams(layout, found)
    if found.otlp_endpoint and os.getuid() == 0 and not _is_here(found.otlp_endpoint):
        yield Finding(
            "note",
            "Tracing",
            f"{found.otlp_endpoint} is not on this machine, which only connectors may leave: run a collector here",
        )
    yield from _permissions(layout, found)
    if layout.prices.exists():
        yield _prices(layout)


def _prices(layout: Layout) -> Finding:
    """A model without a valid price is refused to everybody who has a cap (rule 3)."""
    said = read_overrides(layout.prices)
    faults = [said.broken] if said.broken else list(said.faults.values())
    if faults:
        return Finding("fail", "Prices", f"{'; '.join(faults)}: no model that this is about can be used under a cap")
    return Finding("ok", "Prices", f"{len(said.rates)} in {layout.prices.name}")


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _streams(layout: Layout, found: config.Config) -> Finding:
    """Whether every stream has a leader, and three replicas that hold everything."""
    told = asyncio.run(leaders(found.bus, layout.tls / "ca.pem", layout.admin_seed))
    wrong = [f"{name}: no leader is known" for name, each in told.items() if each["leader"] is None]
    wrong += [
        f"{name}: {each['current']} of {each['replicas']} replicas are current"
        for name, each in told.items()
        if each["leader"] is not None and each["current"] != each["replicas"]
    ]
    says = "; ".join(wrong) or "every stream has a leader and all replicas are current"
    return Finding("note" if wrong else "ok", "Bus", says)


def _permissions(layout: Layout, found: config.Config) -> Iterator[Finding]:
    wrong: list[str] = []
    for path, uid, mode in _expected(layout, found):
        if not os.path.lexists(path):
            wrong.append(f"{path} is missing")
            continue
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode) or status.st_uid != uid or stat.S_IMODE(status.st_mode) != mode:
            wrong.append(f"{path} is {stat.filemode(status.st_mode)} of user {status.st_uid}, not {mode:04o} of {uid}")
    yield Finding("fail" if wrong else "ok", "Files", "; ".join(wrong) or "owners and modes are as they must be")


def _expected(layout: Layout, found: config.Config) -> Iterator[tuple[Path, int, int]]:
    me = found.install_uid
    yield from (
        (path, me, 0o755) for path in (layout.state, layout.run, layout.keys, layout.tls, layout.nats, layout.logs)
    )
    yield layout.operator_token, me, 0o600
    yield layout.backup_key, me, 0o600
    yield layout.tls / "nats.key", found.uids["nats"], 0o600
    yield layout.pg_socket_dir, found.uids["pgadm"], 0o2750
    yield layout.secrets, found.uids["connectors"], 0o700
    yield layout.workspace, found.uids["agent"], 0o700
    if os.getuid() == me:  # how open it is depends on what only its maker can read
        yield layout.spool, found.uids["agent"], spool.OPEN if found.containers else spool.lying(layout, 0)[1]
    yield layout.pg, found.uids["pgadm"], 0o700
    for part in services(cluster=found.cluster):
        yield layout.run / part, found.uids[base_of(part)], 0o755
    for service in SERVICES:
        yield layout.keys / service, found.uids[service], 0o700
        if os.access(layout.keys / service, os.X_OK):
            yield layout.keys / service / "bus.nk", found.uids[service], 0o600


def _ports(base: int, *, cluster: bool = False) -> str:
    preflight.ports(base, cluster=cluster)
    return f"{base} to {base + len(config.ports_from(base, cluster=cluster)) - 1} are free"


def _disk(layout: Layout, *, fresh: bool) -> str:
    preflight.disk(layout, fresh=fresh)
    return f"{shutil.disk_usage(layout.state).free // 1024**2} MiB free"


def _tried(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding("ok", what, look())
    except Refused as error:
        return Finding("fail", what, error.message)
