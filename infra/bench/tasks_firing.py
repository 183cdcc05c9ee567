"""The figures of tasks: how soon due ones are found, how many fire in a second, and what two queues reach on the same Postgres; each of what was measured
beside it in the same run."""

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
    ("100,000 tasks stored: the due ones found, median (ms)", ("due_query_ms",), "<=", 5),
    ("reminders fired, each with its row and notification (/s)", ("firings_per_s",), ">=", 2000),
    ("beside it: Procrastinate, work that does nothing (/s)", ("procrastinate_per_s",), "", 0),
    ("ours to Procrastinate's", ("firings_to_procrastinate",), ">=", 5),
    ("beside it: PgQueuer, work that does nothing (/s)", ("pgqueuer_per_s",), "", 0),
    ("ours to PgQueuer's", ("firings_to_pgqueuer",), "", 0),
)
STORED, FIRED, QUEUED, FEW = 100_000, 20_000, 20_000, 2_000
"""Tasks that lie there; reminders that fire; jobs for PgQueuer; jobs for Procrastinate, which takes its time."""


async def measure_firing(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"due_query_ms", "tasks_stored", "firings_per_s", "procrastinate_per_s", "pgqueuer_per_s", "firings_to_procrastinate", "firings_to_pgqueuer"}; None for what is
    not installed. Only in a stack of its own: the lease of the loop is taken from the agent meanwhile."""
    if not target.own:
        raise Refused("tasks are measured in a stack of their own only: the agent's own loop would fire them")
    owners = f"bench-{fresh_id()}"
    stored, fired = max(5000, round(STORED * size)), max(2000, round(FIRED * size))
    say(f"tasks, {stored:,} stored, {fired:,} of them fire")
    found = await _work(target, "pgadm", "fill", owners, stored, fired)
    found |= await _work(target, "agent", "fire", owners, stored, fired)
    say("Procrastinate and PgQueuer on the same Postgres")
    for name, count in (("procrastinate", FEW), ("pgqueuer", QUEUED)):
        found |= await _work(target, "pgadm", name, owners, stored, max(500, round(count * size)))
        rate = found[f"{name}_per_s"]
        found[f"firings_to_{name}"] = round(found["firings_per_s"] / rate, 2) if rate else None
    return found


async def _work(target: Target, user: str, part: str, owners: str, stored: int, count: int) -> dict[str, Any]:
    """One part, as the OS user whose database role it needs."""
    who = identities.resolve()
    command = ["-m", "infra.bench.tasks_work", "--state", str(target.layout.state), "--part", part]
    command += ["--owners", owners, "--stored", str(stored), "--count", str(count)]
    runtime = choose(target.layout, *who.owner(user))
    process = await asyncio.create_subprocess_exec(
        *as_user(who, user, [str(runtime.python), *command]), env=environment(runtime), cwd=runtime.code,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    if process.returncode:
        raise Refused(f"measuring tasks failed ({part}): {said.decode(errors='replace').strip()[-800:]}")
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found
