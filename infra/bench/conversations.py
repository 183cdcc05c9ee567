"""The figures of conversations: opening one of 5,000 messages, and a search in four of them."""

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
    ("conversations: one of 5,000 messages opens, median (ms)", ("conversation_open_ms",), "<", 300),
    ("conversations: a search in four of them, median (ms)", ("conversation_search_ms",), "", 0),
    ("conversations: one fitted to a model's window, median (ms)", ("conversation_fit_ms",), "", 0),
)
MESSAGES = 5000


async def measure_conversations(target: Target, size: float, say: Say) -> dict[str, Any]:
    """{"conversation_open_ms", "conversation_search_ms", "conversation_fit_ms", "conversation_messages"}."""
    messages = max(200, round(MESSAGES * size))
    say(f"a conversation of {messages:,} messages")
    who = identities.resolve()
    runtime = choose(target.layout, *who.owner("agent"))
    command = [str(runtime.python), "-m", "infra.bench.conversations_work", "--state", str(target.layout.state)]
    process = await asyncio.create_subprocess_exec(
        *as_user(who, "agent", [*command, "--messages", str(messages)]), env=environment(runtime), cwd=runtime.code,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    if process.returncode:
        raise Refused(f"measuring conversations failed: {said.decode(errors='replace').strip()[-500:]}")
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found
