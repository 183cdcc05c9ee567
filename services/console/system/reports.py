"""The reports in DIR/run/report: written by the supervisor, which alone may look; replaced as a whole, so a reader never sees half of one."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from services.console.system.domain import Report
from shared.clock import now
from shared.errors import Transient

FIGURES, INVENTORY = "top.json", "grants.json"
ASKED, WATCHED = "inventory.asked", "system.watched"
LARGEST = 16 * 1024**2
ABSENT = (
    "There is no report. The supervisor writes it some seconds after a start; where the services run without it"
    " (in containers of their own), ask on the machine: `schleuse top`, `schleuse grants`."
)


class Reports:
    """`run` is DIR/run. The console may read the reports, and touch two files in its own folder that the supervisor looks at."""

    def __init__(self, run: Path) -> None:
        self._reports, self._own = run / "report", run / "console"

    def figures(self) -> Report:
        """How everything is doing. Being asked for, they come more often."""
        self._touch(WATCHED)
        return self._read(FIGURES)

    def inventory(self) -> Report:
        return self._read(INVENTORY)

    def ask_for_inventory(self) -> None:
        """Transient when the supervisor cannot be told."""
        if not self._touch(ASKED):
            raise Transient("The supervisor cannot be asked: the console cannot write in its own run folder.")

    def asked_at(self) -> float:
        """In seconds since the epoch; 0 when nobody asked."""
        try:
            return (self._own / ASKED).stat().st_mtime
        except OSError:
            return 0.0

    def _touch(self, name: str) -> bool:
        try:
            (self._own / name).touch()
        except OSError:
            return False
        return True

    def _read(self, name: str) -> Report:
        path = self._reports / name
        try:
            if path.stat().st_size > LARGEST:
                return Report(None, None, None, "The report is larger than any that the supervisor writes.")
            content: dict[str, Any] = json.loads(path.read_text())
            taken_at = datetime.fromisoformat(content["taken_at"])
        except FileNotFoundError:
            return Report(None, None, None, ABSENT)
        except (OSError, ValueError, KeyError, TypeError) as error:
            return Report(None, None, None, f"The report cannot be read: {error}")
        return Report(content, taken_at, max(0.0, (now() - taken_at).total_seconds()))
