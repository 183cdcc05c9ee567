"""The steps before anything starts. Each can run again, and being killed between or inside any two of them does no harm."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infra.local import config, folders, keys, place, preflight, spool
from infra.local.identities import Identities
from infra.local.instances import base_of, bus_parts, services
from infra.local.layout import APPS, VERSION, Layout
from infra.local.runtime import Runtime, choose
from infra.nats import certificate
from infra.nats.config import Place, Routes, render


@dataclass(frozen=True)
class Prepared:
    """Everything that starting needs."""

    layout: Layout
    who: Identities
    config: config.Config
    runtime: Runtime


Step = Callable[[str], None]
"""Called with each step's name as it begins."""


def prepare(
    layout: Layout, who: Identities, port_base: int | None, step: Step, *, cluster: bool | None = None
) -> Prepared:
    """Needs the lock. Refused with a sentence that says what to do. `cluster`: None leaves it as the first start chose."""
    step("Checking ports, disk and state")
    preflight.check(layout, port_base, cluster)
    _announce_upgrade(layout, step)
    me = (os.getuid(), os.getgid())
    step("Making folders and keys")
    several = config.cluster_of(config.read(layout), cluster)
    make_folders(layout, who, me, cluster=several)
    keys.make_keys(layout, who, me, cluster=several)
    settings = config.write(layout, who, port_base, cluster)
    _certificate(layout, who, me, several=several)
    keys.publish(layout, me)
    _nats_conf(layout, settings, me)
    step("Checking that the services can read their code")
    runtime = choose(layout, *who.owner("site"))
    return Prepared(layout, who, settings, runtime)


def _announce_upgrade(layout: Layout, step: Step) -> None:
    """Said before anything is changed. Each of the steps that follow adds what is missing, so one that was killed is begun again."""
    found = config.read(layout)
    if found is not None and found.version < VERSION:
        step(
            f"Upgrading the state from version {found.version} to {VERSION}: what is missing is added, nothing is removed"
        )


def make_run_folder(layout: Layout) -> None:
    """What the supervisor itself needs before the first step: its socket's and its log's folder."""
    me = (os.getuid(), os.getgid())
    folders.folder(layout.run, 0o755, me)
    folders.folder(layout.logs, 0o755, me)


def make_folders(layout: Layout, who: Identities, me: folders.Owner, *, cluster: bool = False) -> None:
    for path in (layout.run, layout.tls, layout.nats, layout.logs):
        folders.folder(path, 0o755, me)
    for part in services(cluster=cluster):
        folders.folder(layout.run / part, 0o755, who.owner(base_of(part)))
    folders.folder(layout.run / APPS, 0o755, who.owner(APPS))
    folders.folder(layout.secrets, 0o700, who.owner("connectors"))
    folders.folder(layout.workspace, 0o700, who.owner("agent"))
    spool.make_spool(layout, who.uids["agent"], who.gids["agent"])
    folders.folder(layout.pg, 0o700, who.owner("pgadm"))
    folders.folder(layout.pg_socket_dir, 0o2750, (who.uids["pgadm"], who.group))
    for part in bus_parts(cluster=cluster):
        folders.folder(layout.bus_store(part), 0o700, who.owner("nats"))


def _certificate(layout: Layout, who: Identities, me: folders.Owner, *, several: bool) -> None:
    private, public = layout.tls / "nats.key", layout.tls / "ca.pem"
    if private.exists() and public.exists() and (not several or certificate.serves(public.read_bytes())):
        return
    certificate_text, key_text = certificate.make()
    public.unlink(missing_ok=True)
    folders.write(private, key_text, 0o600, who.owner("nats"))
    folders.write(public, certificate_text, 0o644, me)


def _nats_conf(layout: Layout, settings: config.Config, me: folders.Owner) -> None:
    users = keys.bus_users(layout, cluster=settings.cluster)
    for part in bus_parts(cluster=settings.cluster):
        folders.write(layout.bus_conf(part), render(bus_place(layout, settings, part), users), 0o644, me)


def bus_place(layout: Layout, settings: config.Config, part: str) -> Place:
    """Where one of the bus's servers listens, and, in a cluster, where it finds the others."""
    ports, files = settings.ports, (layout.tls / "ca.pem", layout.tls / "nats.key")
    if not settings.cluster:
        return Place(ports[part], layout.bus_store(part), *files)
    others = [other for other in bus_parts(cluster=True) if other != part]
    routes = Routes(ports[f"{part}-route"], tuple(f"127.0.0.1:{ports[f'{other}-route']}" for other in others))
    return Place(ports[part], layout.bus_store(part), *files, name=part, routes=routes)


def settle(named: Path, who: Identities) -> Layout:
    return place.settle(named, who)
