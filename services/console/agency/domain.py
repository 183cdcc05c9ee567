"""The agent's settings as people see and type them. No framework."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from schemas.agency import SettingName, setting_fault
from shared.errors import Refused

NO_LIMIT = "none"
DEFAULTS: dict[tuple[SettingName, str], str] = {
    ("cap", "users"): "5.00",
    ("cap", "guests"): "1.00",
    ("model", ""): "",
    ("proposals", ""): "on",
}
"""As installed; the agent holds the same."""


@dataclass(frozen=True)
class Wanted:
    """`subject` of a cap: `users`, `guests` or `user:<id>`."""

    name: SettingName
    subject: str
    value: str


@dataclass(frozen=True)
class Shown:
    """One setting for a page or a list. `row`: who set it, when and why; None as installed. `coming`: the change that is on its way."""

    name: SettingName
    subject: str
    title: str
    about: str
    value: str
    row: Mapping[Any, Any] | None = None
    coming: Mapping[Any, Any] | None = None

    @property
    def key(self) -> str:
        return f"{self.name}-{self.subject}".rstrip("-").replace(":", "-")

    @property
    def in_words(self) -> str:
        return in_words(self.name, self.value)


def in_words(name: str, value: str) -> str:
    """`5.00 dollars a day`, `no limit`, `the built-in one`."""
    if name == "cap":
        return {NO_LIMIT: "no limit", "": "as everybody"}.get(value) or f"${_in_cents(value)} in 24 hours"
    return value or "the built-in one" if name == "model" else value


def _in_cents(amount: str) -> str:
    """`7.5` as `7.50`; finer ones in full."""
    whole, _, part = amount.partition(".")
    return f"{whole}.{part:0<2}"


def title_of(name: str, subject: str, person: str = "") -> tuple[str, str]:
    """(its name on the page, what it does)."""
    if name == "model":
        return (
            "Model",
            "Which model answers, as connector/model; without one the built-in rules answer, which cost nothing.",
        )
    if name == "proposals":
        return (
            "Proposals",
            "Whether the agent may propose pages for publication. A person decides on each of them either way.",
        )
    if subject == "users":
        return (
            "Cap of each person",
            "What paid calls of one person may cost in 24 hours, for whoever has no cap of their own.",
        )
    if subject == "guests":
        return "Cap of all guests", "What paid calls of all guests together may cost in 24 hours."
    return f"Cap of {person or subject}", "What this person's paid calls may cost in 24 hours."


def check_wanted(name: str, subject: str, value: str) -> Wanted:
    """As it is signed. Refused says what it can be."""
    for known in get_args(SettingName):
        if name == known:
            wanted = Wanted(known, subject, value.strip())
            fault = setting_fault(wanted.name, wanted.subject, wanted.value)
            if fault:
                raise Refused(f"{fault[0].upper()}{fault[1:]}.", code="value")
            return wanted
    raise Refused(f"The agent has no setting {name!r}; it has {', '.join(get_args(SettingName))}.", code="name")
