"""What `status` says: the supervisor's view of every part, and each service's own figures."""

import asyncio
import logging
from pathlib import Path
from typing import Any

from infra.local import config, control, readiness
from infra.local.instances import base_of, servers, services
from infra.local.layout import APPS, Layout
from infra.nats.lag import reader_lag
from infra.nats.leaders import leaders
from shared.errors import Transient

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
    figures, streams = asyncio.run(_figures(layout, found))
    parts: dict[str, Report] = supervisor["parts"]
    return (
        _installation(found)
        | {
            "ready": supervisor["ready"],
            "running": True,
            "services": {name: parts[name] | figures[name] for name in figures if name in parts},
            "servers": {name: parts[name] for name in (*servers(cluster=found.cluster), APPS) if name in parts},
            "supervisor": {
                "pid": supervisor["pid"],
                "up_seconds": supervisor["up_seconds"],
                "starting": supervisor["starting"],
            },
            "backups": supervisor.get("backups", []),
        }
        | ({"bus": {"streams": streams}} if found.cluster else {})
        | _egress(supervisor.get("egress", {}))
    )


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


def _egress(told: Report) -> Report:
    """As it is now; in containers it is their networks that shut the way out, and config.json says so."""
    return {"egress_separation": told["on"], "egress": told} if told else {}


async def _figures(layout: Layout, found: config.Config) -> tuple[dict[str, Report], dict[str, Report]]:
    """By part, and in a cluster by stream."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remark on a closed TLS connection says nothing
    names = services(cluster=found.cluster)
    answers = asyncio.gather(*(readiness.figures(layout.health(name)) for name in names))
    ca = layout.tls / "ca.pem"
    streams = await leaders(found.bus, ca, layout.admin_seed) if found.cluster else {}
    lag = await reader_lag(found.bus, ca, layout.admin_seed)
    figures = {
        name: _of_service(answer, lag.get(base_of(name))) for name, answer in zip(names, await answers, strict=True)
    }
    return figures, streams


def _of_service(answer: Report, lag: int | None) -> Report:
    """Unknown figures are null, never zero (rule 30): so are those that a service had from its database before that went away."""
    figures, conditions = answer.get("figures", {}), answer.get("conditions", {})
    counted = figures if conditions.get("database", {}).get("ok") else {}
    return {
        "conditions": conditions,
        "reader_lag": lag,
        "oldest_unsent_seconds": counted.get("oldest_unsent_seconds"),
        "unsent_events": counted.get("unsent_events"),
        "parked_events": counted.get("parked_events"),
        "figures": figures,
    }
