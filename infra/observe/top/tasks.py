"""Who fires tasks, from what the agent's processes say of themselves."""

from typing import Any


def task_loop(figures: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """{"by" (a part, or None), "fence", "fired", "late", "late_s"} of the one that holds the lease; None when no process says anything of it."""
    said = {name: each for name, each in figures.items() if "tasks_loop" in each}
    if not said:
        return None
    by = next((name for name, each in said.items() if each["tasks_loop"]), None)
    mine = said.get(by or "", {})
    return {"by": by} | {name: mine.get(f"tasks_{name}") for name in ("fence", "fired", "late", "late_s")}
