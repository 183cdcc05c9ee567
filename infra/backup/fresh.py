"""The folder that a restore goes into: fresh, held, and marked until it is whole."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.local import folders, place
from infra.local.identities import Identities
from infra.local.layout import Layout
from infra.local.preflight import RESTORING
from infra.local.prepare import make_run_folder
from shared.errors import Refused

SPARE = 128 * 1024**2


@contextmanager
def fresh(named: Path, who: Identities, backup: Path) -> Iterator[Layout]:
    """The state directory, held, with the marker in it until the block is done. Nothing stays of one that fails."""
    real = named.resolve()
    _refuse_nested(named, real, backup)
    _refuse_used(named, real)
    layout = place.settle(named, who)
    lock = place.hold(layout)
    try:
        folders.write(layout.state / RESTORING, json.dumps({"from": str(backup)}), 0o644)
        make_run_folder(layout)
        yield layout
        folders.write(layout.processes, "[]", 0o644)
        (layout.state / RESTORING).unlink()
    except BaseException:
        _clear(layout.state)
        raise
    finally:
        os.close(lock)


def refuse_full(layout: Layout, needed: int) -> None:
    """`needed`: bytes of what will be written."""
    free, needed = shutil.disk_usage(layout.state).free, needed + SPARE
    if free < needed:
        raise Refused(
            f"the disk that holds {layout.state} has {free // 1024**2} MiB free; {needed // 1024**2} MiB are needed",
            code="disk_full",
        )


def _refuse_nested(named: Path, real: Path, backup: Path) -> None:
    if real == backup or real in backup.parents or backup in real.parents:
        raise Refused(f"{named} and the backup lie in one another; name another folder with --state", code="inside")


def _refuse_used(named: Path, real: Path) -> None:
    """Where something runs or lies; what an interrupted restore left goes."""
    if real.exists() and place.held(Layout(real)):
        raise Refused(
            f"{named} is running; a restore goes into a fresh folder only. Nothing was changed.", code="running"
        )
    if not real.is_dir() or not any(real.iterdir()):
        return
    if not (real / RESTORING).is_file() or real.stat().st_uid != os.getuid():
        raise Refused(
            f"{named} is not empty; a restore goes into a fresh folder only: name another with --state. Nothing was changed.",
            code="not_empty",
        )
    _clear(real)


def _clear(real: Path) -> None:
    """The marker goes last: killed in between, the next one still knows what this is."""
    for entry in real.iterdir():
        if entry.name == RESTORING:
            continue
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    (real / RESTORING).unlink()
