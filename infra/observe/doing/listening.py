"""Where a process of this very OS user listens: {"pid"}, `value` lists address:port; or which ones listen there: {"place"}, process ids."""

from pathlib import Path
from typing import Any

from infra.observe.listening import listeners, listens


async def do(_: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"got": "done", "value": listeners(each["place"]) if "place" in each else listens(each["pid"])}
        for each in attempts
    ]
