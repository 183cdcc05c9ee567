"""What a tool is. Text that a tool brings from outside is data; whoever may not use a tool never sees it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from services.agent.owners.domain import AgentRole, Me

EVERYBODY: frozenset[AgentRole] = frozenset({"owner", "admin", "moderator", "member", "viewer", "guest"})
PEOPLE: frozenset[AgentRole] = EVERYBODY - {"guest"}
TRUSTED: frozenset[AgentRole] = frozenset({"owner", "admin"})


class Arguments(BaseModel):
    """Base of a tool's arguments: unknown ones are errors, which the model is told."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=64 * 1024)


@dataclass(frozen=True)
class Asked:
    """For whom and where a tool runs. `tainted`: what untrusted text this conversation has read so far. `depth`: of virtual tools in virtual tools.
    `said`: the owner's message of this turn. `card_id`: the card on which a person allowed exactly this, when it is run from there."""

    me: Me
    conversation_id: UUID
    turn_id: UUID
    tainted: tuple[str, ...] = ()
    depth: int = 0
    said: str = ""
    card_id: UUID | None = None


@dataclass(frozen=True)
class Found:
    """What a tool brings back: JSON for the model, a short line for the page, and where untrusted text in it came from (S11). `said`: what the conversation
    alone is told, and nobody else who hears of a card, when it was carried out by one."""

    value: Any
    shown: str = ""
    sources: tuple[str, ...] = ()
    said: str = ""


Run = Callable[[Asked, Any], Awaitable[Found]]


@dataclass(frozen=True)
class Tool:
    """One tool. `writes`: what it changes that outlives the turn; in a tainted conversation it then waits on a card (S11). `own`: only the owner's own
    things. `recipients`: where its effect goes, from its arguments. `ordered`: whether the owner's own message of this turn orders exactly that; then there is
    nothing for a card to ask. `always`: it waits on a card wherever it is called (rule 28). `exact`: what a card says instead of the arguments as they were
    given, so that nothing in them depends on when somebody decides; Refused for what is not worth a person's time; it may have to be awaited."""

    name: str
    about: str
    takes: type[Arguments]
    run: Run
    roles: frozenset[AgentRole]
    writes: Literal[
        "", "memory", "behavior", "lessons", "tools", "send", "propose", "tasks", "skills", "files", "mail"
    ] = ""
    own: bool = True
    recipients: Callable[[Any], tuple[str, ...]] = field(default=lambda _: ())
    ordered: Callable[[str, Any], bool] = field(default=lambda _, __: False)
    always: bool = False
    exact: Callable[[Asked, Any], Any] = field(default=lambda _, given: given)

    def may(self, role: AgentRole) -> bool:
        return role in self.roles


Tools = Sequence[Tool]
