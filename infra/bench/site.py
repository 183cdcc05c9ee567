"""`schleuse bench site`: each part's figures, one after another in one stack. A part is a line in PARTS and its targets in TARGETS."""

from collections.abc import Awaitable, Callable
from typing import Any

from infra.bench import site_grid, site_leaks, site_many, site_pages, site_rollup
from infra.bench.report import Targets
from infra.bench.site_grid import grid
from infra.bench.site_leaks import leaks
from infra.bench.site_many import many
from infra.bench.site_pages import pages
from infra.bench.site_rollup import rollup
from infra.bench.target import Say, Target

Measure = Callable[[Target, float, Say], Awaitable[dict[str, Any]]]
PARTS: dict[str, Measure] = {"pages": pages, "many": many, "grid": grid, "leaks": leaks, "rollup": rollup}
TARGETS: Targets = (
    *site_pages.TARGETS,
    *site_many.TARGETS,
    *site_grid.TARGETS,
    *site_leaks.TARGETS,
    *site_rollup.TARGETS,
)


async def measure_site(target: Target, size: float, only: str, say: Say) -> dict[str, Any]:
    """The figures of all parts, or of one."""
    found: dict[str, Any] = {}
    for name, measure in PARTS.items():
        if only in ("", name):
            say(f"part: {name}")
            found |= await measure(target, size, say)
    return found
