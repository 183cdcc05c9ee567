"""Streams and durables beside their declaration, and what the admin identity may ask the bus."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from infra.docker.bus import places
from infra.local.config import Config
from infra.local.instances import bus_parts
from infra.local.layout import Layout
from infra.local.prepare import bus_place
from infra.nats.config import Place
from infra.nats.provision import connect
from infra.observe.installation import Installation
from shared.errors import Transient

HARMLESS = {"metadata", "consumer_limits", "compression", "persist_mode", "replay_policy", "max_waiting", "num_replicas", "deliver_policy", "name", "durable_name", "max_consumers", "max_msgs", "max_msgs_per_subject"}  # fmt: skip
"""Fields of a configuration that open nothing, and that the server fills in its own way."""
GOODBYE_SECONDS = 1.0
IDLE: tuple[object, ...] = (None, False, 0, "", [], {}, -1)


def parts_here(here: Installation) -> tuple[str, ...]:
    """The bus's servers whose configuration lies in this state directory; in containers the others keep theirs to themselves."""
    return bus_parts(cluster=here.config.cluster and not here.config.containers)


def place_of(here: Installation, part: str) -> Place:
    return places(here.config)[part] if here.config.containers else bus_place(here.layout, here.config, part)


@asynccontextmanager
async def admin(layout: Layout, config: Config, timeout: float = 20) -> AsyncIterator[JetStreamContext]:  # noqa: ASYNC109 - handed to the client
    """JetStream as the admin identity sees it. Transient when the bus cannot be asked."""
    try:
        client = await connect(config.bus, layout.tls / "ca.pem", layout.admin_seed, "admin")
    except (NatsError, OSError, TimeoutError) as error:
        raise Transient(f"the bus cannot be asked: {error}", code="bus") from None
    try:
        yield client.jetstream(timeout=timeout)
    except (NatsError, OSError, TimeoutError) as error:
        raise Transient(f"the bus does not answer: {error!r}", code="bus") from None
    finally:
        await hang_up(client)


async def hang_up(client: Client) -> None:
    """At once, also when the server has stopped in the middle of its work: a polite goodbye would wait for it for half a minute."""
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await client.close()
    except (NatsError, OSError, TimeoutError):
        writer = getattr(client._transport, "_io_writer", None)
        if writer is not None:
            writer.transport.abort()


async def listed(js: JetStreamContext, verb: str, field: str, timeout: float = 20) -> list[dict[str, Any]]:  # noqa: ASYNC109 - as above
    """Every entry that $JS.API.<verb> lists, page by page. NatsError passes through."""
    found: list[dict[str, Any]] = []
    while True:
        asked = json.dumps({"offset": len(found)}).encode()
        answer = json.loads((await js._nc.request(f"$JS.API.{verb}", asked, timeout=timeout)).data)
        if "error" in answer:
            raise NatsError(answer["error"].get("description", "refused"))
        page = answer.get(field) or []
        found += page
        if not page or len(found) >= answer.get("total", 0):
            return found


def apart(wanted: dict[str, Any], found: dict[str, Any]) -> str:
    """Fields that are set otherwise than declared; what is not declared must be unset."""
    return ", ".join(
        f"{key}: {found.get(key)!r}"
        for key in {**wanted, **found}
        if key not in HARMLESS
        and wanted.get(key) != found.get(key)
        and not (wanted.get(key) in IDLE and found.get(key) in IDLE)
    )


def plain(config: dict[str, Any]) -> dict[str, Any]:
    """One subject may come back in a field of its own."""
    one = config.pop("filter_subject", None)
    return config | ({"filter_subjects": [one]} if one else {})
