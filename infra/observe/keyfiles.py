"""Which key files a service has: one for each duty, and in the console one more for each decision key that was added and not revoked (S3, S6)."""

import re
from pathlib import Path

from infra.local.layout import Layout, key_files
from shared.signing import PublicKeys

FIRST = "decision.key"
_ADDED = re.compile(r"decision-([0-9a-f]{16})\.key")


def names_of(layout: Layout, service: str) -> list[str]:
    """File names of a service's keys. Which decision keys there are is read from the folder; whether that is right, area chain asks the console."""
    files = [name for name in key_files(service) if name != FIRST]
    return [*files, *(decision_files(layout) if service == "console" else ())]


def decision_files(layout: Layout) -> list[str]:
    """Oldest first: the lock has recorded that one for sure, and its signatures count, for a revoked key's file is deleted."""
    folder = layout.keys / "console"
    found = [path for path in folder.iterdir() if path.name == FIRST or _ADDED.fullmatch(path.name)]
    return [path.name for path in sorted(found, key=_written)] or [FIRST]


def key_id_of(layout: Layout, name: str) -> str:
    """The id of a decision key by its file's name; the installation published that of the first."""
    added = _ADDED.fullmatch(name)
    return added[1] if added else sorted(PublicKeys.load(layout.public_keys).ids("decision"))[0]


def _written(path: Path) -> int:
    return path.lstat().st_mtime_ns
