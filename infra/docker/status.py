"""What the supervisor would say of its parts, where there is none: in containers each part is asked itself."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from nats.errors import Error as NatsError

from infra.docker.healthy import KEEPER_SECONDS, PROVISIONED
from infra.local import readiness
from infra.local.config import Config
from infra.local.layout import Layout
from infra.nats.provision import connect
from schemas.catalogue import SERVICES
from shared.errors import Refused, Transient

HOW = {"stop": "docker compose stop", "status": "docker compose up --detach"}


def answer(layout: Layout, config: Config, verb: str) -> dict[str, Any]:
    """Like infra.local.control.ask. Transient (code not_running) when no part answers; Refused for what compose does."""
    if verb != "status":
        raise Refused(
            f"this installation runs in containers: `{HOW.get(verb, 'docker compose')}` does that", code="containers"
        )
    with ThreadPoolExecutor(1) as beside:  # whoever asks may itself run in a loop
        return beside.submit(lambda: asyncio.run(_status(layout, config))).result()


async def _status(layout: Layout, config: Config) -> dict[str, Any]:
    found: dict[str, bool] = {
        "postgres": await readiness.postgres_listens(layout.pg_socket_dir),
        "nats": await _bus(layout, config),
        "keeper": _keeps(layout),
    }
    answers = await asyncio.gather(*(readiness.service(layout.health(name)) for name in SERVICES))
    found |= dict(zip(SERVICES, answers, strict=True))
    if not any(found.values()):
        raise Transient(f"nothing is running; start it with `{HOW['status']}`", code="not_running")
    parts = {
        name: {"state": "ready" if ready else "unready", "ready": ready, "pid": None, "restarts": None}
        for name, ready in found.items()
    }
    return {"ready": all(found.values()), "starting": False, "pid": None, "up_seconds": None, "parts": parts}


async def _bus(layout: Layout, config: Config) -> bool:
    try:
        client = await connect(config.bus, layout.tls / "ca.pem", layout.admin_seed, "admin")
    except (NatsError, OSError, TimeoutError):
        return False
    await client.close()
    return True


def _keeps(layout: Layout) -> bool:
    mark = layout.run / "keeper" / PROVISIONED
    return mark.exists() and time.time() - mark.stat().st_mtime < KEEPER_SECONDS
