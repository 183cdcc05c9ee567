"""What `status` says: the supervisor's view of every part, and each service's own figures."""

import asyncio
from pathlib import Path
from typing import Any

from infra.local import config, control, readiness
from infra.local.layout import Layout
from infra.local.plans import SERVICE_ORDER
from shared.errors import Transient

SERVERS = ("postgres", "nats")
Report = dict[str, Any]


def report(named: Path) -> Report:
    """The whole report. `running` is false when there is no supervisor; config errors pass through as Refused."""
    layout = Layout(named.resolve())
    found = config.read(layout)
    if found is None:
        return _empty()
    try:
        supervisor = control.ask(layout, "status")
    except Transient:
        return _empty() | _installation(found)
    figures = asyncio.run(_figures(layout))
    parts: dict[str, Report] = supervisor["parts"]
    return {
        "ready": supervisor["ready"],
        "running": True,
        "services": {name: parts[name] | figures[name] for name in SERVICE_ORDER if name in parts},
        "servers": {name: parts[name] for name in SERVERS if name in parts},
        "supervisor": {
            "pid": supervisor["pid"],
            "up_seconds": supervisor["up_seconds"],
            "starting": supervisor["starting"],
        },
    } | _installation(found)


def _empty() -> Report:
    return {
        "ready": False,
        "running": False,
        "services": {},
        "servers": {},
        "urls": {},
        "os_separation": False,
        "egress_separation": False,
    }


def _installation(found: config.Config) -> Report:
    return {"urls": found.urls, "os_separation": found.os_separation, "egress_separation": found.egress_separation}


async def _figures(layout: Layout) -> dict[str, Report]:
    answers = await asyncio.gather(*(readiness.figures(layout.health(name)) for name in SERVICE_ORDER))
    return {name: _of_service(answer) for name, answer in zip(SERVICE_ORDER, answers, strict=True)}


def _of_service(answer: Report) -> Report:
    """Unknown figures are left out, never shown as zero (rule 30)."""
    return {key: answer[key] for key in ("conditions", "figures") if key in answer}
