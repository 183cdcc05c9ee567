"""The figures of lessons: a query in 10,000 of one owner (rule 18)."""

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
    ("lessons: a query in 10,000 of one owner, median (ms)", ("lessons_query_ms",), "<", 10),
    ("lessons: a query of which every lesson has a word, median (ms)", ("lessons_common_query_ms",), "", 0),
    ("lessons: the first query after one was added (ms)", ("lessons_index_ms",), "", 0),
)
LESSONS = 10_000


async def measure_lessons(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"lessons_query_ms", "lessons_common_query_ms", "lessons_index_ms", "lessons"}."""
    lessons = max(200, round(LESSONS * size))
    say(f"a query in {lessons:,} lessons")
    who = identities.resolve()
    runtime = choose(target.layout, *who.owner("agent"))
    command = [str(runtime.python), "-m", "infra.bench.agent_lessons_work", "--state", str(target.layout.state)]
    process = await asyncio.create_subprocess_exec(
        *as_user(who, "agent", [*command, "--lessons", str(lessons)]), env=environment(runtime), cwd=runtime.code,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    if process.returncode:
        raise Refused(f"measuring lessons failed: {said.decode(errors='replace').strip()[-500:]}")
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found
