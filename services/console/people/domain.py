"""Roles, callers and the rules of signing in. No framework."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from schemas.model import Actor
from schemas.text import text_fault
from shared.errors import Forbidden, Refused
from shared.markup import invisible

Role = Literal["owner", "admin", "moderator", "member", "viewer"]
Need = Literal["read", "submit", "decide", "share", "switch", "guests", "connectors", "people", "keys", "system"]
ROLES: tuple[Role, ...] = get_args(Role)
_MAY: dict[Role, frozenset[Need]] = {
    "owner": frozenset(
        {"read", "submit", "decide", "share", "switch", "guests", "connectors", "people", "keys", "system"}
    ),
    "admin": frozenset({"read", "submit", "decide", "share", "switch", "guests", "connectors", "system"}),
    "moderator": frozenset({"read", "submit", "decide", "share"}),
    "member": frozenset({"read", "submit"}),
    "viewer": frozenset({"read"}),
}
_WORDS: dict[Need, str] = {
    "read": "read the console",
    "submit": "submit items",
    "decide": "decide on items",
    "share": "share records with the agent",
    "switch": "set switches",
    "guests": "invite guests of the site",
    "connectors": "decide on connectors, secrets and cards",
    "people": "manage people",
    "keys": "change decision keys",
    "system": "look into the system",
}
IDLE = timedelta(hours=12)
ABSOLUTE = timedelta(days=7)
LINK_LIFE = timedelta(hours=24)
KNOWN_BROWSER = timedelta(days=180)
ACCOUNT_TRIES, ADDRESS_TRIES = 5, 20
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=15), timedelta(minutes=15)
FORGET_FAILURES = timedelta(hours=1)
MIN_PASSWORD, MAX_PASSWORD = 10, 256
GONE = (
    "This link opens nothing: it was used, replaced or revoked, or it is older than 24 hours."
    " An owner of this workplace can make a new one on the page People; while there is no owner, `schleuse up --detach` does."
)
"""The same words whatever the reason, so that a link tells nothing about anybody."""
_BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = (("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS", "macOS"), ("Linux", "Linux"))  # fmt: skip
_HANDLE = re.compile(r"[^\s@/<>\"]{1,64}(@[^\s@/<>\"]{1,190})?")


@dataclass(frozen=True)
class Caller:
    """Who is asking, by which way. `role` is the effective one (a token may narrow it)."""

    id: str
    name: str
    role: Role
    via: Literal["console", "api", "operator"] = "console"

    def may(self, need: Need) -> bool:
        return need in _MAY[self.role]

    def require(self, need: Need) -> None:
        """Forbidden, naming the role and what it lacks."""
        if not self.may(need):
            able = ", ".join(role for role in ROLES if need in _MAY[role])
            raise Forbidden(f"A {self.role} may not {_WORDS[need]}; that takes one of: {able}.")

    def actor(self) -> Actor:
        return Actor(id=self.id, name=self.name, via=self.via)


OPERATOR = Caller("operator", "Operator", "owner", "operator")
"""The person at the machine (S12): recorded as such, and never a second pair of eyes."""


@dataclass(frozen=True)
class Session:
    """A signed-in browser. `token_hash` identifies it; the token itself is only in the cookie."""

    token_hash: str
    caller: Caller
    single_keys: bool
    ends_at: datetime
    language: str = ""
    """What the person chose; empty: what the browser asks for."""


def hash_token(token: str) -> str:
    """How links, sessions and API tokens are stored. They are 256 random bits, so a plain SHA-256 is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def session_name(token_hash: str) -> str:
    """What a form calls a session by; it opens nothing."""
    return hash_token(f"session {token_hash}")[:32]


def browser_name(agent: str) -> str:
    """`Firefox on Linux`: all that is kept of a user agent."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), "Unknown browser")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    return f"{browser} on {system}" if system else browser


def check_handle(handle: str) -> str:
    """The handle as stored: trimmed, lower case. Refused when it is neither a short name nor an e-mail address."""
    clean = handle.strip().lower()
    if text_fault(clean) or invisible(clean) or not _HANDLE.fullmatch(clean):
        raise Refused("The sign-in name is an e-mail address or a short name without spaces.", code="handle")
    return clean


def check_name(name: str) -> str:
    clean = " ".join(name.split())
    if not clean or len(clean) > 100 or text_fault(clean) or invisible(clean):
        raise Refused("A name has 1 to 100 characters, all of them visible.", code="name")
    return clean


def check_role(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise Refused(f"There is no role {role!r}; the roles are {', '.join(ROLES)}.", code="role")


def narrower(one: Role, other: Role) -> Role:
    """The one of two roles that may do less."""
    return max(one, other, key=ROLES.index)


def delay_after(failures: int, allowed: int) -> timedelta:
    """How long sign-in stays shut after this many failed tries in a row: nothing, then doubling up to 15 minutes."""
    over = failures - allowed
    if over < 0:
        return timedelta(0)
    return min(FIRST_DELAY * (1 << min(over, 10)), LONGEST_DELAY)


def in_words(wait: timedelta) -> str:
    seconds = max(1, round(wait.total_seconds()))
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"
