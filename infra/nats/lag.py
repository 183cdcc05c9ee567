"""How far behind each reader is, asked with the admin identity."""

from collections.abc import Sequence
from pathlib import Path

from nats.errors import Error as NatsError

from infra.nats.provision import Where, connect
from infra.nats.topology import durables


async def reader_lag(port: Where | Sequence[Where], ca: Path, admin_seed: Path) -> dict[str, int]:
    """Events that wait for each service, over all its durables, those in hand included. Empty when the bus cannot be asked."""
    try:
        client = await connect(port, ca, admin_seed, "admin")
    except (NatsError, OSError, TimeoutError):
        return {}
    found: dict[str, int] = {}
    try:
        js = client.jetstream(timeout=2)
        for each in durables():
            info = await js.consumer_info(each.stream, each.name)
            found[each.reader] = found.get(each.reader, 0) + (info.num_pending or 0) + (info.num_ack_pending or 0)
    except (NatsError, TimeoutError):
        return {}
    else:
        return found
    finally:
        await client.close()
