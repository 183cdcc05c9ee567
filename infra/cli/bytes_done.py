"""A bar for work that is counted in bytes; without a terminal, the steps alone."""

import signal
import sys
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn


class BytesDone:
    """Takes `{"step", "total"?}` and `{"done"}` or `{"total"}`."""

    def __init__(self, *, quiet: bool) -> None:
        out = Console(file=sys.stderr, highlight=False)
        shown = out.is_terminal and not quiet
        columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
        self._bar = Progress(*columns, console=out, transient=True) if shown else None
        self._out, self._quiet = out, quiet
        self._task: TaskID | None = None

    def __enter__(self) -> "BytesDone":
        """A program that is told to end cleans up like one that is interrupted."""
        signal.signal(signal.SIGTERM, _end)
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, said: dict[str, Any]) -> None:
        if self._quiet:
            return
        if "step" in said:
            self._step(said["step"], said.get("total"))
        elif self._bar is not None and self._task is not None:
            if "total" in said:
                self._bar.update(self._task, total=said["total"])
            if "done" in said:
                self._bar.update(self._task, completed=said["done"])

    def _step(self, name: str, total: int | None) -> None:
        if self._bar is None:
            self._out.print(name)
            return
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(name, total=total)


def _end(*_: object) -> None:
    raise SystemExit(143)
