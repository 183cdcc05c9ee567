"""What lies in the folder of sealed secrets, read by its owner: {} -> [[name, what is wrong or "", place]]. A value never leaves the process."""

import asyncio
from pathlib import Path
from typing import Any

from infra.backup.sealing import FORM
from schemas.text import sha256
from shared.errors import SchleuseError
from shared.sealing import Identity, unseal
from shared.settings import Settings


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    settings = Settings.load("connectors", state)
    found = await asyncio.to_thread(_look, settings)
    return [{"got": "done", "value": found} for _ in attempts]


def _look(settings: Settings) -> list[list[str]]:
    identity = Identity.load(settings.keys / "secrets.key")
    return [[path.name, *_judged(path, identity)] for path in sorted(settings.secrets.iterdir())]


def _judged(path: Path, identity: Identity) -> tuple[str, str]:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return "", ""  # revoked in this very moment
    if not raw.startswith(FORM):
        return "it is not sealed", ""
    if path.suffix != ".age" or path.name.startswith("."):
        return "", ""
    if path.stem != sha256(raw):
        return "its name is not its hash", ""
    try:
        return "", str(unseal(identity, raw).place)
    except SchleuseError as error:
        return error.message[:100], ""
