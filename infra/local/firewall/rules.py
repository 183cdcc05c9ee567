"""Who may not leave this machine, and under which name our rules stand in the kernel."""

import pwd
from dataclasses import dataclass
from typing import Protocol

from infra.local.config import Config
from infra.local.identities import NO_LOGIN
from infra.local.layout import ALL_USERS

MAY_LEAVE = frozenset({"connectors"})
FAMILIES = ("IPv4", "IPv6")
DNS = 53
REFUSED = "refused"
"""What `read` says of a user who is kept in as declared. Anything else says what differs."""

Found = dict[tuple[str, str], str]
"""(user, family) -> REFUSED or what is wrong; the user is empty for rules that belong to nobody of ours."""


@dataclass(frozen=True)
class Rules:
    """`name` is this installation's own: nothing else in the firewall is ever touched.

    For each user: no new connection over any interface but loopback, nothing there that is not TCP, and no name server at all,
    for one that listens on loopback passes on what it is asked. Answers of the fronts are no new connections.
    """

    name: str
    users: dict[str, int]


def rules_of(config: Config) -> Rules:
    """uid 0 and users that several parts share are never among them: with them others would be shut in, too."""
    shut = {name: uid for name, uid in config.uids.items() if name in ALL_USERS and name not in MAY_LEAVE}
    assert config.os_separation, "without OS users of their own the rules would hit whoever else runs as that user"
    assert 0 not in shut.values() and config.uids["connectors"] not in shut.values()
    return Rules(f"schleuse-{config.install_id[:12]}", shut)


def who_log_in(rules: Rules) -> list[str]:
    """Users that only bear one of our names: whoever can log in is somebody's, and is not to be shut in."""
    shells = {user: pwd.getpwuid(uid).pw_shell for user, uid in rules.users.items() if _exists(uid)}
    return [user for user, shell in shells.items() if shell != NO_LOGIN]


def _exists(uid: int) -> bool:
    return any(each.pw_uid == uid for each in pwd.getpwall())


class Backend(Protocol):
    """One way to speak with the kernel. All raise Refused (code `firewall`) with what the tool said."""

    @property
    def tool(self) -> str: ...

    def put(self, rules: Rules) -> None:
        """Whole, whatever was there under this name before."""
        ...

    def take_away(self, rules: Rules) -> None:
        """Nothing of this name is left; done already is done."""
        ...

    def read(self, rules: Rules) -> Found:
        """How it is now."""
        ...
