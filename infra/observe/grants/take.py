"""Take the whole inventory, as a program of its own, too: the supervisor runs it so that its own work is never held up.

python -m infra.observe.grants.take --state DIR     writes DIR/run/report/grants.json
"""

import argparse
import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from infra.observe.grants.bus import read_bus
from infra.observe.grants.files import read_files
from infra.observe.grants.line import AREAS, Area, Line, count, in_order, unknown
from infra.observe.grants.postgres import read_postgres
from infra.observe.grants.processes import read_processes
from infra.observe.grants.users import read_users
from infra.observe.installation import Installation
from infra.observe.report_files import GRANTS, make_report_folder, write_report
from shared.clock import now
from shared.errors import SchleuseError

READERS: dict[Area, Callable[[Installation], Awaitable[list[Line]]]] = {
    "postgres": read_postgres,
    "bus": read_bus,
    "files": read_files,
    "processes": read_processes,
    "users": read_users,
}


def areas_of(here: Installation) -> Sequence[Area]:
    """In containers nobody sees other containers' processes, files and users: area containers of `schleuse prove` reads what each says of itself."""
    return ("postgres", "bus") if here.config.containers else AREAS


async def take(here: Installation, areas: Sequence[Area]) -> list[Line]:
    """Every line of these areas, by surface. What cannot be read is a line that says so. The workers are still there afterwards."""
    found = await asyncio.gather(*(_read(here, area) for area in areas))
    return in_order(line for lines in found for line in lines)


async def _read(here: Installation, area: Area) -> list[Line]:
    try:
        return await READERS[area](here)
    except (SchleuseError, OSError, ValueError, KeyError) as error:
        return [
            unknown(area, "installation", area, getattr(error, "message", "") or f"{type(error).__name__}: {error}")
        ]


def inventory(state: Path, areas: Sequence[Area] = ()) -> dict[str, Any]:
    """{"taken_at", "seconds", "state", "os_separation", "lines": […], "counts": {state: n}, "differences": n}. No `areas`: all that can be seen. Refused or Transient as Installation.load."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # its remarks on closed TLS connections say nothing
    logging.getLogger("nats").setLevel(logging.CRITICAL)  # what was refused is a line of the inventory
    began, at = time.monotonic(), now()
    here = Installation.load(state)
    lines = asyncio.run(_whole(here, areas or areas_of(here)))
    counts = count(lines)
    return {
        "taken_at": at.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began, 2),
        "state": str(here.layout.state),
        "os_separation": here.separated,
        "lines": [line.to_json() for line in lines],
        "counts": counts,
        "differences": sum(line.differs for line in lines),
    }


async def _whole(here: Installation, areas: Sequence[Area]) -> list[Line]:
    try:
        return await take(here, areas)
    finally:
        await here.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.observe.grants.take")
    parser.add_argument("--state", type=Path, required=True)
    state: Path = parser.parse_args().state
    try:
        found = inventory(state)
        here = Installation.load(state)
        make_report_folder(here.layout, here.who)
        write_report(here.layout, here.who, GRANTS, found)
    except (SchleuseError, OSError) as error:
        sys.stderr.write(f"inventory: {error}\n")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
