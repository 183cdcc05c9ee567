"""Where a process of this very OS user listens: {"pid"}. `value` lists address:port."""

from pathlib import Path
from typing import Any

from infra.observe.listening import listens


async def do(_: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"got": "done", "value": listens(each["pid"])} for each in attempts]
