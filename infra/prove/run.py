"""Run areas side by side: most of them wait for the system's answers most of the time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from infra.prove.areas.all import AREAS
from infra.prove.check import Check
from infra.prove.target import Target
from shared.errors import SchleuseError

APART = (("access",), ("people", "identity"), ("chain", "grants"))


async def prove(target: Target, areas: Sequence[str] = tuple(AREAS)) -> list[Check]:
    """All rows of these areas, in their order. An area that cannot be examined is a failed row: not knowing is not well."""
    try:
        found = [
            checks
            for group in _apart(areas)
            for checks in await asyncio.gather(*(_examine(target, each, AREAS[each]) for each in group))
        ]
    finally:
        await target.close()
    return [check for checks in found for check in sorted(checks, key=lambda check: check.actor)]


def _apart(areas: Sequence[str]) -> list[list[str]]:
    """Side by side, but for those that look at what others make for a moment: `access` at keys, `people` and `identity` at people, `chain` and `grants`
    at decoys of `site rows` and files of attackers."""
    apart = {area for group in APART for area in group}
    groups = [[area for area in areas if area in group] for group in APART]
    return [[area for area in areas if area not in apart], *groups]


async def _examine(target: Target, area: str, check: Callable[[Target], Awaitable[list[Check]]]) -> list[Check]:
    try:
        return await check(target)
    except SchleuseError as error:
        return [Check(area, "prove", "examine this area", "done", f"error: {error.message}", ok=False)]
    except (OSError, TimeoutError, ValueError, KeyError) as error:
        return [Check(area, "prove", "examine this area", "done", f"error: {type(error).__name__}: {error}", ok=False)]
