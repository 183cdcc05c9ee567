"""What lies in the folder of sealed secrets, read by its owner: {} -> [[name, what is wrong or "", place]]. A value never leaves the process."""

import asyncio
from pathlib import Path
from typing import Any

import pyrage

from infra.backup.sealing import FORM
from schemas.text import BadJson, parse_json, sha256
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
    if path.suffix == ".token":
        return _of_a_secret(path, raw, identity), ""
    if path.suffix != ".age" or path.name.startswith("."):
        return "", ""
    if path.stem != sha256(raw):
        return "its name is not its hash", ""
    try:
        return "", str(unseal(identity, raw).place)
    except SchleuseError as error:
        return error.message[:100], ""


def _of_a_secret(path: Path, raw: bytes, identity: Identity) -> str:
    """An access token: it opens for the connectors, and for the version of a secret that its name is made of."""
    try:
        label = parse_json(identity.open(raw))["label"]
    except (pyrage.DecryptError, BadJson, KeyError, TypeError):
        return "it is no access token that the connectors kept"
    return "" if path.stem == sha256(str(label).encode())[:32] else "it is another secret's access token"
