"""The settings of the agent that are in force, as values. Pure: what was decided goes in, in its order."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from schemas.agency import AgentSetting, setting_fault
from schemas.outward import Owner
from services.agent.owners.domain import GUESTS
from shared.errors import Conflict, Refused

USERS_CAP, GUESTS_CAP = Decimal("5.00"), Decimal("1.00")
"""US dollars in a rolling day, until somebody sets another."""
NO_LIMIT = "none"
Named = tuple[str, str]
"""A setting's name and subject."""


@dataclass
class Rules:
    """`shut`: what was decided cannot be believed, so nothing paid may be done (fail closed)."""

    values: dict[Named, str] = field(default_factory=dict)
    counts: Counter[Named] = field(default_factory=Counter)
    position: int = 0
    shut: bool = False

    def check(self, setting: AgentSetting) -> None:
        """Refused when it can be no setting, Conflict when another was made meanwhile."""
        fault = setting_fault(setting.name, setting.subject, setting.value)
        if fault:
            raise Refused(fault, code="value")
        if setting.prior_version != self.counts[setting.name, setting.subject]:
            raise Conflict("it was set by somebody else meanwhile; look at what is in force now")

    def enter(self, setting: AgentSetting) -> None:
        self.values[setting.name, setting.subject] = setting.value
        self.counts[setting.name, setting.subject] += 1

    def cap_of(self, account: Owner) -> Decimal | None:
        """Dollars in a rolling day; None: no limit."""
        if self.shut:
            return Decimal(0)
        if account == GUESTS:
            return _amount(self.values.get(("cap", "guests")), GUESTS_CAP)
        own = self.values.get(("cap", str(account)), "")
        return _amount(own or self.values.get(("cap", "users")), USERS_CAP)

    def model(self) -> tuple[str, str] | None:
        """(connector, model); None: the built-in one."""
        connector, _, model = self.values.get(("model", ""), "").partition("/")
        return None if self.shut or not connector else (connector, model)

    def may_propose(self) -> bool:
        return not self.shut and self.values.get(("proposals", ""), "on") == "on"


def _amount(said: str | None, default: Decimal) -> Decimal | None:
    if said is None:
        return default
    return None if said == NO_LIMIT else Decimal(said)
