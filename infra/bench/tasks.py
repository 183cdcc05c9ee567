"""`schleuse bench tasks`: each part's figures, one after another in one stack. A part is a line in PARTS and its targets in TARGETS."""

from collections.abc import Awaitable, Callable
from typing import Any

from infra.bench import tasks_downloads, tasks_files, tasks_firing, tasks_toasts
from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.bench.tasks_downloads import measure_downloads
from infra.bench.tasks_files import measure_files
from infra.bench.tasks_firing import measure_firing
from infra.bench.tasks_toasts import measure_toasts

Measure = Callable[[Target, float, Say], Awaitable[dict[str, Any]]]
PARTS: tuple[Measure, ...] = (measure_firing, measure_toasts, measure_files, measure_downloads)
TARGETS: Targets = (*tasks_firing.TARGETS, *tasks_toasts.TARGETS, *tasks_files.TARGETS, *tasks_downloads.TARGETS)


async def measure_tasks(target: Target, size: float, say: Say) -> dict[str, Any]:
    """The figures of all parts."""
    found: dict[str, Any] = {}
    for measure in PARTS:
        found |= await measure(target, size, say)
    return found
