"""What the contract tests compare with: committed snapshots, golden examples and AsyncAPI documents.

`python -m tests.contracts.contracts` writes those that are missing and refuses to touch those that exist: a changed contract is a new
version. (AsyncAPI documents and the seal's examples are derived, and are written anew.)
"""

import json
from pathlib import Path
from typing import Any

from schemas.catalogue import EVENTS, SERVICES, Event
from shared.bus.asyncapi import specification

ROOT = Path(__file__).parents[2] / "schemas"


def snapshot_path(event: Event, version: int) -> Path:
    return ROOT / "snapshots" / event.owner / f"{event.name}.v{version}.json"


def example_path(event: Event, version: int) -> Path:
    return ROOT / "examples" / event.owner / f"{event.name}.v{version}.json"


def asyncapi_path(service: str) -> Path:
    return ROOT / "asyncapi" / f"{service}.json"


def schema_of(event: Event, version: int) -> Any:
    return event.data[version].model_json_schema()


def as_text(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def write() -> None:
    for event in EVENTS:
        for version in event.data:
            path = snapshot_path(event, version)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text(as_text(schema_of(event, version)))
    for service in SERVICES:
        asyncapi_path(service).write_text(as_text(specification(service)))


if __name__ == "__main__":
    from tests.contracts import vectors

    write()
    vectors.write()
