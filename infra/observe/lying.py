"""How files and folders of the state directory must lie: `owner group mode` in numbers, and what may lie there beside them."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from infra.docker import uids
from infra.local import spool
from infra.local.instances import base_of, bus_parts, services
from infra.local.layout import APPS
from infra.nginx import installed as edge
from infra.observe.installation import Installation
from infra.observe.keyfiles import names_of
from infra.observe.report_files import GRANTS, TOP, console_files, report_folder
from schemas.catalogue import SERVICES

NOT_WALKED = ("runtime", "data-", "js", "user-")
"""Our own copy of the interpreter has links; the servers' data folders are theirs alone, and workspaces their owners' (area memory looks into those)."""


def required(here: Installation) -> Iterator[tuple[Path, str]]:
    """What must be there while it runs."""
    layout, who, me = here.layout, here.who, (os.getuid(), os.getgid())
    cluster = here.config.cluster
    nats, pgadm = who.owner("nats"), who.owner("pgadm")
    for path in (layout.state, layout.keys, layout.run, layout.tls, layout.nats, layout.logs):
        yield path, owned(me, "755")
    for path in (layout.config, layout.public_keys, layout.tls / "ca.pem", layout.processes):
        yield path, owned(me, "644")
    control = () if here.config.containers else (layout.control,)  # in containers nobody supervises
    for path in (layout.operator_token, *control, layout.admin_seed, layout.backup_key):
        yield path, owned(me, "600")
    yield layout.ingest_token, owned((me[0], who.owner("site")[1]), "640")
    yield layout.tls / "nats.key", owned(nats, "600")
    yield layout.secrets, owned(who.owner("connectors"), "700")
    yield layout.workspace, owned(who.owner("agent"), "700")
    group, mode = spool_of(here)
    yield layout.spool, owned((who.uids["agent"], group), f"{mode:o}")
    yield layout.pg, owned(pgadm, "700")
    yield layout.pg_socket_dir, owned((pgadm[0], who.group), "2750")
    for part in bus_parts(cluster=cluster):
        yield layout.bus_conf(part), owned(me, "644")
        yield layout.bus_store(part), owned(nats, "700")
    for name in ("admin", *(("pacer",) if cluster else ())):
        yield layout.keys / name, owned(me, "700")
    yield layout.run / APPS, owned(who.owner(APPS), "755")
    yield layout.run / APPS / "apps.sock", owned(who.owner(APPS), "666")
    for service in SERVICES:
        owner = who.owner(service)
        yield layout.keys / service, owned(owner, "700")
        yield layout.keys / f"{service}.pub.json", owned(me, "644")
        for name in names_of(layout, service):
            yield layout.keys / service / name, owned(owner, "600")
    for part in services(cluster=cluster):
        yield layout.run / part, owned(who.owner(base_of(part)), "755")
        yield layout.run / part / "op.sock", owned(who.owner(base_of(part)), "600")


def allowed(here: Installation) -> Iterator[tuple[str, str]]:
    """(pattern of the path below the state directory, how it lies) of what is there sometimes, or made a moment after the start."""
    who, me = here.who, (os.getuid(), os.getgid())
    pgadm, console = who.owner("pgadm"), who.owner("console")
    yield r"\.lock", owned(me, "644")
    yield r"backups\.json", owned(me, "600")
    yield r"prices\.toml", owned(me, "644")
    yield r"logs/[a-z0-9-]+\.log(\.[12])?", owned(me, "640")
    yield r"runtime", owned(me, "755")
    yield r"nats/[a-z0-9-]+\.pid", owned(who.owner("nats"), "640")
    yield r"keys/admin\.pub\.json", owned(me, "644")
    yield r"keys/pacer\.pub\.json", owned(me, "644")
    yield r"keys/pacer/bus\.nk", owned(me, "600")
    yield r"secrets/([0-9a-f]{64}\.age|[0-9a-f]{32}\.token|\.[\w-]+(\.[\w-]+)*)", owned(who.owner("connectors"), "600")
    yield r"secrets/[0-9a-f]{32}\.token", owned(who.owner("connectors"), "600")
    yield r"workspace/user-[0-9a-fx-]{36,65}", owned(who.owner("agent"), "700")
    yield r"spool/[0-9a-f-]{36}", owned((who.uids["agent"], spool_of(here)[0]), "640")
    yield r"spool/\.new-[\w-]+", owned((who.uids["agent"], spool_of(here)[0]), "600")
    yield r"pg/data-\d+", owned(pgadm, "700")
    yield r"run/pg/\.s\.PGSQL\.5432", owned((pgadm[0], who.group), "770")
    yield r"run/pg/\.s\.PGSQL\.5432\.lock", owned((pgadm[0], who.group), "600")
    folder = report_folder(here.layout)
    yield _below(here, folder), owned((me[0], console[1]), "750")
    for name in (GRANTS, TOP):
        yield _below(here, folder / name), owned((me[0], console[1]), "640")
    for path in console_files(here.layout):
        yield _below(here, path), owned(console, "644")
    if not here.config.containers:  # there nginx has a volume of its own
        yield from ((pattern, owned(owner, mode)) for pattern, owner, mode in edge.lying(here.layout, me))
    for name, mode in {"": "700", "/data-1": "700", r"/engine\.sock": "700", "/lock": "600"}.items():
        yield rf"run/console/warehouse{name}", owned(console, mode)
    for part in services(cluster=here.config.cluster):
        yield rf"run/{part}/health\.sock", owned(who.owner(base_of(part)), "666")
    yield rf"run/{APPS}/health\.sock", owned(who.owner(APPS), "666")
    if here.config.cluster:
        for part in ("agent", "agent-2"):
            yield rf"run/{part}/guests\.sock", owned(who.owner("agent"), "600")


def spool_of(here: Installation) -> tuple[int, int]:
    """(group, mode) of the folder of copies for nginx."""
    if here.config.containers:
        return uids.users()["nginx"].uid, spool.OPEN
    return spool.lying(here.layout, here.who.gids["agent"])


def _below(here: Installation, path: Path) -> str:
    return re.escape(str(path.relative_to(here.layout.state)))


def owned(owner: tuple[int, int], mode: str) -> str:
    return f"{owner[0]} {owner[1]} {mode}"


def facts(path: Path) -> str:
    """`owner group mode` of a path itself, never of what it points to."""
    found = path.lstat()
    link = " link" if stat.S_ISLNK(found.st_mode) else ""
    return owned((found.st_uid, found.st_gid), f"{stat.S_IMODE(found.st_mode):o}{link}")


def walk(folder: Path) -> Iterator[Path]:
    """Everything below, links not followed. What goes while it is looked at is left out."""
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(NOT_WALKED):
            yield from walk(Path(entry.path))
