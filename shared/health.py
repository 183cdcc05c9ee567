"""What a service says about itself: conditions that are green or red, and figures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Condition:
    ok: bool
    detail: str


class Health:
    """Conditions by name. Ready means: every condition that `needed` names is green."""

    def __init__(self, service: str) -> None:
        self.service = service
        self.conditions: dict[str, Condition] = {}
        self.figures: dict[str, float | int | str | None] = {}
        self.needed: set[str] = set()
        self.counters: dict[str, Callable[[], int]] = {}
        """Figures that are read when somebody asks, by name."""

    def set(self, name: str, ok: bool, detail: str = "") -> None:
        self.conditions[name] = Condition(ok, detail)

    def need(self, name: str) -> None:
        """This condition must be green before the service is ready; red until it is set."""
        self.needed.add(name)
        self.conditions.setdefault(name, Condition(False, "starting"))

    @property
    def ready(self) -> bool:
        return all(self.conditions[name].ok for name in self.needed)

    def ready_but(self, name: str) -> bool:
        """Whether everything that is needed is green, this condition left aside."""
        return all(self.conditions[each].ok for each in self.needed - {name})

    @property
    def green(self) -> bool:
        return all(each.ok for each in self.conditions.values())

    def report(self) -> dict[str, Any]:
        """{"service", "ready", "green", "conditions": {name: {"ok","detail"}}, "figures": {name: figure}}."""
        return {
            "service": self.service,
            "ready": self.ready,
            "green": self.green,
            "conditions": {
                name: {"ok": each.ok, "detail": each.detail} for name, each in sorted(self.conditions.items())
            },
            "figures": dict(sorted(self._all_figures().items())),
        }

    def _all_figures(self) -> dict[str, float | int | str | None]:
        return self.figures | {name: count() for name, count in self.counters.items()}

    def metrics(self) -> str:
        """Prometheus text: one gauge per figure and condition."""
        label = f'{{service="{self.service}"}}'
        lines = [f"schleuse_{name}_ok{label} {int(each.ok)}" for name, each in sorted(self.conditions.items())]
        lines += [
            f"schleuse_{name}{label} {value}"
            for name, value in sorted(self._all_figures().items())
            if isinstance(value, int | float)
        ]
        return "\n".join(lines) + "\n"
