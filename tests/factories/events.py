"""Events made by hand, as a service with a fault or an attacker would send them."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4


def envelope(
    source: str, name: str, data: dict[str, Any], *, key: str = "", version: int = 1, schema: int = 1
) -> dict[str, Any]:
    """A CloudEvents envelope as the product writes it."""
    key = key or str(uuid4())
    return {
        "specversion": "1.0",
        "id": str(uuid4()),
        "source": f"/{source}",
        "type": f"io.schleuse.{name}",
        "dataschema": f"schleuse/{source}/{name}/v{schema}",
        "datacontenttype": "application/json",
        "subject": key,
        "time": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "key": key,
        "keyversion": version,
        "data": data,
    }


def raw(event: dict[str, Any]) -> bytes:
    return json.dumps(event).encode()


def a_view(path: str = "/made/by/hand") -> dict[str, Any]:
    return {
        "signal_id": str(uuid4()),
        "kind": "view",
        "item_id": None,
        "path": path,
        "visitor": uuid4().hex[:16],
        "at": datetime.now(UTC).isoformat(),
    }


def views(count: int, path: str = "/made/by/hand") -> dict[str, Any]:
    """A whole signals.recorded event with `count` views."""
    batch = str(uuid4())
    return envelope(
        "site", "signals.recorded", {"batch_id": batch, "signals": [a_view(path) for _ in range(count)]}, key=batch
    )
