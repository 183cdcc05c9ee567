"""Who leads each stream of a cluster, and how many of its replicas are current."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nats.errors import Error as NatsError
from nats.js.api import StreamInfo

from infra.nats.provision import Where, connect
from infra.nats.topology import streams


async def leaders(where: Sequence[Where], ca: Path, admin_seed: Path) -> dict[str, dict[str, Any]]:
    """{stream: {"leader": server or null, "replicas": how many there are, "current": how many hold everything}}.

    Null where nothing could be learnt: unknown is never zero (rule 30).
    """
    found: dict[str, dict[str, Any]] = {stream.name: _unknown() for stream in streams()}
    try:
        client = await connect(where, ca, admin_seed, "admin")
    except (NatsError, OSError, TimeoutError):
        return found
    try:
        js = client.jetstream(timeout=2)
        for name in found:
            try:
                found[name] = _told(await js.stream_info(name))
            except (NatsError, TimeoutError):
                continue
    finally:
        await client.close()
    return found


def _unknown() -> dict[str, Any]:
    return {"leader": None, "replicas": None, "current": None}


def _told(info: StreamInfo) -> dict[str, Any]:
    others = (info.cluster.replicas if info.cluster else None) or []
    level = sum(bool(each.current and not each.offline and not each.lag) for each in others)
    leader = info.cluster.leader if info.cluster else None
    return {"leader": leader or None, "replicas": len(others) + 1, "current": level + 1}
