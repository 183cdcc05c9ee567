"""The reports that the console shows: DIR/run/report, owned by the installing user, readable by the console's group alone."""

import json
import os
from pathlib import Path
from typing import Any

from infra.local import folders
from infra.local.identities import Identities
from infra.local.layout import Layout

TOP, GRANTS = "top.json", "grants.json"
ASKED, WATCHED = "inventory.asked", "system.watched"
"""The console touches them when somebody asks for a new inventory, or looks at the figures. Nothing but their times is looked at."""


def report_folder(layout: Layout) -> Path:
    return layout.run / "report"


def console_files(layout: Layout) -> tuple[Path, Path]:
    return layout.run / "console" / ASKED, layout.run / "console" / WATCHED


def make_report_folder(layout: Layout, who: Identities) -> None:
    folders.folder(report_folder(layout), 0o750, (os.getuid(), who.gids["console"]))


def write_report(layout: Layout, who: Identities, name: str, content: dict[str, Any]) -> None:
    """Replaced in one step: the console reads the old or the new one."""
    owner = (os.getuid(), who.gids["console"])
    folders.write(report_folder(layout) / name, json.dumps(content, separators=(",", ":"), default=str), 0o640, owner)


def asked_at(layout: Layout) -> float:
    """When somebody last asked for an inventory, in seconds since the epoch; 0 when nobody did."""
    return _touched(console_files(layout)[0])


def watched_at(layout: Layout) -> float:
    return _touched(console_files(layout)[1])


def _touched(path: Path) -> float:
    """The file is the console's: never followed, never opened (S9)."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
