"""The raw legs together: what a part reaches alone on this machine, in the same run as the product."""

import asyncio
import json
from typing import NamedTuple

from infra.bench.raw_bus import fetch_rate, publish_rate, raw_bus
from infra.bench.target import Target
from infra.local import identities
from infra.local.command import as_user, environment
from infra.local.runtime import choose
from shared.errors import Refused


class Legs(NamedTuple):
    """Events a second of each leg."""

    js_publish: float
    js_fetch: float
    pg_batch: float


async def legs(target: Target, batches: int) -> Legs:
    """One leg after the other, each on a machine that is otherwise at rest."""
    with raw_bus(target) as bus:
        published = await publish_rate(bus, batches)
        fetched = await fetch_rate(bus, batches)
    return Legs(published, fetched, await _postgres(target, batches))


async def _postgres(target: Target, batches: int) -> float:
    who = identities.resolve()
    runtime = choose(target.layout, *who.owner("bridge"))
    command = [str(runtime.python), "-m", "infra.bench.raw_postgres", "--state", str(target.layout.state)]
    process = await asyncio.create_subprocess_exec(
        *as_user(who, "bridge", [*command, "--batches", str(batches)]), env=environment(runtime), cwd=runtime.code,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    if process.returncode:
        raise Refused(f"the raw leg of Postgres failed: {said.decode(errors='replace').strip()[-500:]}")
    return float(json.loads(out)["rate"])
