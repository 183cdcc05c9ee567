"""Ten million signals in buckets of time: by Postgres, and by ClickHouse (chDB in its own process), the same question and the same figures."""

import asyncio
import json
from typing import Any

from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.local import identities
from infra.local.command import as_user, environment
from infra.local.runtime import choose
from shared.errors import Refused

ROWS = 10_000_000
TARGETS: Targets = (
    ("roll-up of 10 million signals by Postgres (ms)", ("rollup_10m", "postgres_ms"), "", 0),
    ("the same by ClickHouse (ms)", ("rollup_10m", "clickhouse_ms"), "", 0),
    ("how many times faster", ("rollup_10m", "ratio"), ">=", 10),
    ("rows that were rolled up", ("rollup_10m", "rows"), "", 0),
    ("telling ClickHouse of them (s)", ("rollup_10m", "told_s"), "", 0),
    ("both say the same", ("rollup_10m", "equal"), "", 0),
)


async def rollup(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"rollup_10m": {"postgres_ms", "clickhouse_ms", "ratio", "rows", "told_s", "equal"}}; figures of ClickHouse are null where it is not installed.

    As the console's own user. Rows are made up in a stack of one's own only.
    """
    rows = max(100_000, round(ROWS * size)) if target.own else 0
    say(f"making up {rows:,} signals and rolling them up" if rows else "rolling up the signals that there are")
    who = identities.resolve()
    runtime = choose(target.layout, *who.owner("console"))
    command = ["-m", "infra.bench.site_rollup_work", "--state", str(target.layout.state), "--rows", str(rows)]
    process = await asyncio.create_subprocess_exec(
        *as_user(who, "console", [str(runtime.python), *command]), env=environment(runtime), cwd=runtime.code,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    if process.returncode:
        raise Refused(f"rolling up failed: {said.decode(errors='replace').strip()[-500:]}")
    return {"rollup_10m": json.loads(out)}
