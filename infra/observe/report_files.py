"""The reports that the console shows: DIR/run/report, owned by the installing user, readable by the console's group alone."""

import json
import os
from pathlib import Path
from typing import Any

from infra.local import folders
from infra.local.identities import Identities
from infra.local.layout import Layout

TOP, GRANTS = "top.json", "grants.json"
ASKED = "inventory.asked"


def report_folder(layout: Layout) -> Path:
    return layout.run / "report"


def asked_file(layout: Layout) -> Path:
    """The console touches it when somebody asks for a new inventory; nothing but its time is looked at."""
    return layout.run / "console" / ASKED


def make_report_folder(layout: Layout, who: Identities) -> None:
    folders.folder(report_folder(layout), 0o750, (os.getuid(), who.gids["console"]))


def write_report(layout: Layout, who: Identities, name: str, content: dict[str, Any]) -> None:
    """Replaced in one step: the console reads the old or the new one."""
    owner = (os.getuid(), who.gids["console"])
    folders.write(report_folder(layout) / name, json.dumps(content, separators=(",", ":"), default=str), 0o640, owner)


def asked_at(layout: Layout) -> float:
    """When somebody last asked for an inventory, in seconds since the epoch; 0 when nobody did. The file is the console's: never followed, never opened."""
    try:
        return asked_file(layout).lstat().st_mtime
    except OSError:
        return 0.0
