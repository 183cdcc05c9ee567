"""The call audit's figures: chained appends, verifying, and searching in a million entries."""

import asyncio
import json
from typing import Any

from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.local import identities
from infra.local.command import as_user, environment
from infra.local.runtime import choose
from shared.errors import Refused

TARGETS: Targets = (
    ("audit: chained appends, each on disk (/s)", ("audit_appends_per_s",), ">=", 3000),
    ("audit: entries verified (/s)", ("audit_verify_per_s",), ">=", 40_000),
    ("audit: slowest search by an indexed filter, median (ms)", ("audit_search_ms",), "<=", 100),
    ("audit: entries that were searched", ("audit_entries",), "", 0),
)
APPENDS, ENTRIES = 20_000, 1_000_000


async def measure_audit(target: Target, size: float, say: Say) -> dict[str, Any]:
    """Only a stack of one's own is filled up to a million entries: nobody but the connectors hears of those."""
    entries = max(10_000, round(ENTRIES * size)) if target.own else 0
    say(f"the call audit, {entries:,} entries" if entries else "the call audit, as it is")
    who = identities.resolve()
    runtime = choose(target.layout, *who.owner("connectors"))
    command = [str(runtime.python), "-m", "infra.bench.audit_work", "--state", str(target.layout.state)]
    command += ["--appends", str(max(2000, round(APPENDS * size))), "--entries", str(entries)]
    process = await asyncio.create_subprocess_exec(
        *as_user(who, "connectors", command), env=environment(runtime), cwd=runtime.code,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    if process.returncode:
        raise Refused(f"measuring the call audit failed: {said.decode(errors='replace').strip()[-500:]}")
    found: dict[str, Any] = json.loads(out)
    return found
