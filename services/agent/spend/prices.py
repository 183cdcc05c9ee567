"""What a model costs: the operator's file first, then what came with the product; else unknown, which is never 0 (rules 3, 30)."""

from collections.abc import Callable
from pathlib import Path

import structlog

from services.agent.spend.listed import listed_price
from services.agent.spend.overrides import FILE, Overrides, read_overrides
from services.agent.spend.rates import FREE, Rates
from shared.clock import now

log = structlog.get_logger()


def _log(fault: str) -> None:
    log.warning("prices.faulty", fault=fault)


class Prices:
    """Reads the file anew whenever it is another one, so that a correction needs no restart. `tell` hears what is wrong with it."""

    def __init__(self, state: Path, tell: Callable[[str], None] = _log) -> None:
        self._places, self._tell = (
            (state / FILE, state / "public" / FILE),
            tell,
        )  # in containers a start copies it there
        self._seen: tuple[int, int, int] | None = None
        self._overrides = Overrides()

    def of(self, connector: str, model: str) -> Rates | None:
        """The built-in model (no connector) is free. None: no valid price."""
        if not connector:
            return FREE
        spoken, rates = self.overrides().says(connector, model)
        return rates if spoken else listed_price(connector, model, now())

    def overrides(self) -> Overrides:
        """What the file says now."""
        seen = self._look()
        if seen != self._seen:
            place = next((each for each in self._places if each.exists()), self._places[0])
            self._seen, self._overrides = seen, read_overrides(place)
            for fault in [self._overrides.broken, *self._overrides.faults.values()]:
                if fault:
                    self._tell(fault)
        return self._overrides

    def _look(self) -> tuple[int, int, int] | None:
        for place in self._places:
            try:
                found = place.stat()
            except FileNotFoundError:
                continue
            except OSError:
                return -1, -1, -1
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None
