"""Area files: what each OS user can reach, how everything lies, what the processes may."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from infra.local.instances import base_of, bus_parts, services
from infra.local.layout import user_of
from infra.observe.report_files import GRANTS, TOP, report_folder
from infra.prove.areas.logs import check_logs
from infra.prove.areas.lying import check_lying
from infra.prove.areas.processes import check_processes
from infra.prove.check import Book, Check
from infra.prove.target import Target
from schemas.catalogue import SERVICES


@dataclass(frozen=True)
class Try:
    """One operation on one thing; `owners` are the OS users for whom it must work."""

    op: str
    thing: str
    owners: tuple[str, ...] = ()


async def check(target: Target) -> list[Check]:
    book = Book("files")
    check_lying(target, book)
    await check_processes(target, book)
    check_logs(target, book)
    made = [*_secrets(target), *_folders(target), *_sockets(target), *_foreign_processes(target)]
    if target.separated:
        await asyncio.gather(*(_attack(target, book, user, made) for user in target.users))
    else:
        for each in made:
            book.open(f"OS user {target.who.users['console']}", _says(target, each))
    return book.checks


async def _attack(target: Target, book: Book, user: str, made: list[Try]) -> None:
    mine = [each for each in made if not (each.op in ("signal", "memory", "environment") and user in each.owners)]
    attempts = [{"kind": "files", "op": each.op, "path": each.thing} for each in mine]
    for each, outcome in zip(mine, await target.run(user, attempts), strict=True):
        book.outcome(f"OS user {user}", _says(target, each), outcome, "done" if user in each.owners else "refused")


def _says(target: Target, each: Try) -> str:
    name = next((f"{part}'s process" for part, pid in target.pids.items() if str(pid) == each.thing), each.thing)
    return f"{each.op}: {name.removeprefix(f'{target.layout.state}/')}"


def _secrets(target: Target) -> list[Try]:
    layout = target.layout
    found = [
        Try("read", str(path), (service,)) for service in SERVICES for path in sorted((layout.keys / service).iterdir())
    ]
    found += [Try("list", str(layout.keys / service), (service,)) for service in SERVICES]
    found += [Try("read", str(path)) for path in (layout.operator_token, layout.admin_seed, layout.backup_key)]
    found += [Try("read", str(layout.ingest_token), ("site",)), Try("read", str(layout.tls / "nats.key"), ("nats",))]
    found += [Try("read", str(data / "pg_hba.conf"), ("pgadm",)) for data in layout.pg.glob("data-*")]
    found += [Try("list", str(layout.pg), ("pgadm",))]
    found += [Try("list", str(layout.bus_store(part)), ("nats",)) for part in bus_parts(cluster=target.config.cluster)]
    found += [Try("read", str(layout.pacer_seed))] if target.config.cluster else []
    found += [Try("list", str(layout.secrets), ("connectors",)), Try("list", str(layout.workspace), ("agent",))]
    reports = report_folder(layout)
    if reports.exists():
        found += [Try("list", str(reports), ("console",)), Try("create", str(reports))]
        found += [Try("read", str(path), ("console",)) for path in (reports / TOP, reports / GRANTS) if path.exists()]
    public = (layout.public_keys, layout.config, layout.tls / "ca.pem")
    return found + [Try("read", str(path), target.users) for path in public]


def _folders(target: Target) -> list[Try]:
    """Who may put files where; what everybody runs belongs to nobody who runs it."""
    layout, code = target.layout, target.runtime.code
    nobodys = [
        layout.state,
        layout.keys,
        layout.keys / "admin",
        layout.run,
        layout.tls,
        layout.nats,
        layout.logs,
        code,
        code / "services",
        code / "shared",
        target.runtime.python.parent,
    ]
    found = [Try("create", str(path)) for path in nobodys]
    found += [
        Try("create", str(place / service), (service,)) for service in SERVICES for place in (layout.keys, layout.run)
    ]
    found += [
        Try("create", str(layout.run / part), (base_of(part),)) for part in services(cluster=target.config.cluster)
    ]
    found += [
        Try("create", str(layout.pg), ("pgadm",)),
        Try("create", str(layout.secrets), ("connectors",)),
        Try("create", str(layout.pg_socket_dir), ("pgadm",)),
        *(Try("create", str(layout.bus_store(part)), ("nats",)) for part in bus_parts(cluster=target.config.cluster)),
    ]
    files = [
        layout.config,
        layout.public_keys,
        *(layout.bus_conf(part) for part in bus_parts(cluster=target.config.cluster)),
        layout.tls / "ca.pem",
        layout.processes,
        code / "services" / "__init__.py",
        *sorted(layout.logs.glob("*.log")),
    ]
    return found + [Try("write", str(path)) for path in files]


def _sockets(target: Target) -> list[Try]:
    instances = services(cluster=target.config.cluster)
    found = [Try("connect", str(target.layout.run / part / "op.sock"), (base_of(part),)) for part in instances]
    return [
        *found,
        *(() if target.config.containers else (Try("connect", str(target.layout.control)),)),
        Try("connect", str(target.layout.pg_socket_dir / ".s.PGSQL.5432"), (*SERVICES, "pgadm")),
    ]


def _foreign_processes(target: Target) -> list[Try]:
    return [
        Try(op, str(pid), (user_of(part),))
        for part, pid in target.pids.items()
        for op in ("signal", "memory", "environment")
        if Path(f"/proc/{pid}").exists()
    ]
