"""A table of a million rows as a page, by every filter and order that has an index; and a file of 100,000 rows that becomes records."""

import asyncio
import json
from typing import Any

from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.local import identities
from infra.local.command import as_user, environment
from infra.local.runtime import choose
from shared.errors import Refused

ROWS, IMPORTED = 1_000_000, 100_000
TARGETS: Targets = (
    ("a page of a table of a million rows, p99 (ms)", ("grid_1m_ms_p99",), "<=", 150),
    ("the same, median (ms)", ("grid_1m_ms_p50",), "", 0),
    ("rows of that table", ("grid_rows",), "", 0),
    ("the slowest question", ("grid_slowest",), "", 0),
    ("import of 100,000 CSV rows (s)", ("import_100k_s",), "<=", 20),
    ("rows of that file", ("import_rows",), "", 0),
)


async def grid(target: Target, size: float = 1.0, say: Say = lambda _: None) -> dict[str, Any]:
    """{"grid_1m_ms_p99", "grid_1m_ms_p50", "grid_rows", "grid_slowest", "import_100k_s", "import_rows"}; over HTTP, as somebody who is signed in.

    In a stack of one's own only: rows are made up. Null in another.
    """
    if not target.own:
        return dict.fromkeys((path[0] for _, path, _, _ in TARGETS), None)
    rows, imported = max(20_000, round(ROWS * size)), max(5_000, round(IMPORTED * size))
    say(f"making up a table of {rows:,} rows, looking at its pages, importing {imported:,} rows")
    who = identities.resolve()
    runtime = choose(target.layout, *who.owner("console"))
    command = [
        "-m",
        "infra.bench.site_grid_work",
        "--state",
        str(target.layout.state),
        "--rows",
        str(rows),
        "--import",
        str(imported),
    ]
    process = await asyncio.create_subprocess_exec(
        *as_user(who, "console", [str(runtime.python), *command]), env=environment(runtime), cwd=runtime.code,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    if process.returncode:
        raise Refused(f"the grid could not be measured: {said.decode(errors='replace').strip()[-500:]}")
    found: dict[str, Any] = json.loads(out)
    return found
