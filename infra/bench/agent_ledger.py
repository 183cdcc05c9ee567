"""The ledger's figures: reserve and settle under one owner's cap, and the sum over a day of 100,000 rows."""

import asyncio
import json
from typing import Any

from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.local import identities
from infra.local.command import as_user, environment
from infra.local.runtime import choose
from shared.errors import Refused
from shared.ids import fresh_id

TARGETS: Targets = (
    ("ledger: reserve and settle, one owner's cap (/s)", ("reserve_settle_per_s",), ">=", 1000),
    ("ledger: sum over a day of one owner, median (ms)", ("ledger_sum_ms",), "<=", 3),
    ("ledger: rows of that owner in the day", ("ledger_rows",), "", 0),
)
ROWS, SECONDS = 100_000, 5.0


async def measure_ledger(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"reserve_settle_per_s", "ledger_sum_ms", "ledger_rows"}. Rows of a day are made up by the database's own user, in a stack of one's own only."""
    rows = max(5000, round(ROWS * size)) if target.own else 0
    say(f"the ledger, {rows:,} rows of one owner" if rows else "the ledger")
    who, account = identities.resolve(), f"bench-{fresh_id()}"
    found: dict[str, Any] = {}
    for user, part in (("pgadm", "fill"), ("agent", "measure")):
        command = ["-m", "infra.bench.agent_ledger_work", "--state", str(target.layout.state), "--part", part]
        command += ["--account", account, "--rows", str(rows), "--seconds", str(max(1.0, SECONDS * size))]
        runtime = choose(target.layout, *who.owner(user))
        process = await asyncio.create_subprocess_exec(
            *as_user(who, user, [str(runtime.python), *command]), env=environment(runtime), cwd=runtime.code,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, said = await process.communicate()
        if process.returncode:
            raise Refused(f"measuring the ledger failed: {said.decode(errors='replace').strip()[-500:]}")
        found |= json.loads(out)
    return found
