"""Which switches there are, what they may be set to, and what that does."""

from dataclasses import dataclass
from typing import Literal

from schemas.text import text_fault
from shared.errors import NotFound, Refused

Name = Literal["publication_mode", "site_mode", "four_eyes"]
MAX_REASON = 500


@dataclass(frozen=True)
class Choice:
    value: str
    effect: str


@dataclass(frozen=True)
class Switch:
    """One switch: its words on the page, its choices (the first is a fresh installation's), and the section it is in."""

    name: Name
    title: str
    about: str
    section: str
    choices: tuple[Choice, ...]

    def effect(self, value: str) -> str:
        return next((choice.effect for choice in self.choices if choice.value == value), "")

    @property
    def is_binary(self) -> bool:
        return {choice.value for choice in self.choices} == {"on", "off"}


SWITCHES: tuple[Switch, ...] = (
    Switch(
        "publication_mode",
        "Publication mode",
        "What may pass to the public site: after review, or nothing.",
        "Publication",
        (
            Choice("review", "What a person approves becomes public."),
            Choice("frozen", "Nothing new becomes public, whoever approves it. What is live stays live."),
        ),
    ),
    Switch(
        "four_eyes",
        "Four eyes",
        "An author may not approve their own item. Held in the lock's database.",
        "Publication",
        (
            Choice("off", "Authors can approve their own items."),
            Choice("on", "Authors can no longer approve their own items, and the operator's approvals do not count."),
        ),
    ),
    Switch(
        "site_mode",
        "Site mode",
        "Who may read the public site.",
        "Site",
        (
            Choice(
                "open", "Everybody who can reach the site reads what is public. What is for members, only they read."
            ),
            Choice(
                "members",
                "Only people of the workplace and invited guests read the site, once they have signed in. Nobody else sees"
                " any page, feed or search.",
            ),
            Choice("off", "The site answers 403 to everybody. Nothing is withdrawn."),
        ),
    ),
)
BY_NAME: dict[str, Switch] = {switch.name: switch for switch in SWITCHES}


def check_switch(name: str) -> Switch:
    if name not in BY_NAME:
        raise NotFound(f"There is no switch {name!r}.")
    return BY_NAME[name]


def check_value(switch: Switch, value: str) -> str:
    values = [choice.value for choice in switch.choices]
    if value not in values:
        raise Refused(f"{switch.title} is one of {', '.join(values)}.", code="value")
    return value


def check_why(reason: str) -> str:
    clean = " ".join(reason.split())
    if not clean or len(clean) > MAX_REASON or text_fault(clean):
        raise Refused(f"A switch is set with a reason of 1 to {MAX_REASON} characters.", code="reason")
    return clean
