"""`prices.toml` in the state directory: what a model costs here, over what the product knows. The operator's file; the agent only reads it.

["openai/gpt-4o-mini"]        # a model through one connector, or just its name for every connector
input = "0.15"                # dollars per million tokens
output = "0.60"
cached = "0.075"              # optional: without it cached tokens cost as others
call = "0"                    # optional: dollars per call

["local/llama"]
free = true
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from services.agent.spend.rates import FREE, Rate, Rates

FILE = "prices.toml"
NAMES = frozenset({"input", "output", "cached", "call", "free"})
MOST = Decimal(1_000_000)
"""Dollars per million tokens or per call that are no slip of the keyboard."""


@dataclass(frozen=True)
class Overrides:
    """By model or connector/model. `faults`: entries that are no prices, and why; such a model has no valid price. `broken`: why the file says nothing at all."""

    rates: Mapping[str, Rates] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""

    def says(self, connector: str, model: str) -> tuple[bool, Rates | None]:
        """Whether the file speaks of this model, and its price; None when what it says is no price."""
        for key in (f"{connector}/{model}", model):
            if key in self.rates or key in self.faults:
                return True, self.rates.get(key)
        return bool(self.broken), None


def read_overrides(path: Path) -> Overrides:
    """No file: nothing is overridden. One that cannot be read may have meant any model, so no model has a price then."""
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return Overrides()
    except (OSError, UnicodeDecodeError) as error:
        return Overrides(broken=f"{path.name} cannot be read: {error}")
    try:
        entries = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return Overrides(broken=f"{path.name} is not valid TOML: {error}")
    return _overrides(entries)


def _overrides(entries: Mapping[str, Any]) -> Overrides:
    rates, faults = {}, {}
    for name, entry in entries.items():
        try:
            rates[name] = _rates(name, entry)
        except ValueError as error:
            faults[name] = str(error)
    return Overrides(rates, faults)


def _rates(name: str, entry: Any) -> Rates:
    if not isinstance(entry, dict) or not NAMES.issuperset(entry):
        raise ValueError(f'["{name}"] takes {", ".join(sorted(NAMES))} and nothing else')
    if "free" in entry:
        if entry != {"free": True}:
            raise ValueError(f'["{name}"] says free = true alone, or prices')
        return Rates(FREE.steps, FILE)
    missing = {"input", "output"} - entry.keys()
    if missing:
        raise ValueError(f'["{name}"] lacks {" and ".join(sorted(missing))}: what is not said is not 0')
    values = {key: _dollars(name, key, value) for key, value in entry.items()}
    rate = Rate(values["input"], values["output"], values.get("cached"), values.get("call", Decimal(0)))
    return Rates((rate,), FILE)


def _dollars(name: str, key: str, value: Any) -> Decimal:
    try:
        found = Decimal(value) if isinstance(value, str | int | Decimal) and not isinstance(value, bool) else None
    except InvalidOperation:
        found = None
    if found is None or not found.is_finite() or not 0 <= found <= MOST or found != round(found, 12):
        raise ValueError(
            f'["{name}"] {key} = {value!r} is no price: dollars from 0 to {MOST:,}, with at most 12 decimal places'
        )
    return found
