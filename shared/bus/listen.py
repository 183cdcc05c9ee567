"""Declaring handlers: `@on("item.decided")` on a method of a service's intake class.

What a service must handle stands in the catalogue; FastStream documents it from there, too (shared.bus.declared).
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from schemas.catalogue import BY_NAME, Event


@dataclass(frozen=True)
class Handler:
    """One declared handler, bound to its intake object. `prepare` runs before the transaction, for slow reading work."""

    event: Event
    call: Callable[..., Awaitable[None]]
    batch: bool
    prepare: Callable[..., Awaitable[Any]] | None


def on(name: str, *, batch: bool = False, prepare: str = "") -> Callable[[Any], Any]:
    """Declare a method `(self, tx, event)` as the handler of an event, or `(self, tx, events)` with batch=True.

    `prepare` names an async method `(self, event)` that runs before the transaction; its result is `event.prepared`.
    """
    if name not in BY_NAME:
        raise LookupError(f"the catalogue has no event {name}")

    def mark(method: Any) -> Any:
        method.listens_to = (*getattr(method, "listens_to", ()), (name, batch, prepare))
        return method

    return mark


class Intake:
    """The handlers of a service by event name.

    An intake object may have a method `on_parked(tx, event, reason)`, which is called in the transaction that parks an event.
    """

    def __init__(self, declared: object) -> None:
        self.handlers: dict[str, Handler] = {}
        self.on_parked: Callable[..., Awaitable[None]] | None = getattr(declared, "on_parked", None)
        for _, method in _methods(declared):
            for name, batch, prepare in getattr(method, "listens_to", ()):
                before = getattr(declared, prepare) if prepare else None
                if name in self.handlers:
                    raise LookupError(f"two handlers for {name}")
                self.handlers[name] = Handler(BY_NAME[name], method, batch, before)

    def handler(self, name: str) -> Handler | None:
        return self.handlers.get(name)


def _methods(declared: object) -> list[tuple[str, Any]]:
    return inspect.getmembers(declared, callable)
