"""Signed statements about the agent (S5, S10, S11): its settings, who may reach it by a key, what it may do in a tainted conversation.

Like those of schemas.statements: the bytes that were signed are the record. What a person decides is signed by the console's decision key
and verified twice, by the lock that lets it through and by the agent that acts on it; what is true of a person, by the identity key.
"""

import re
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import Data, Hash, Instant, Line, Role, Text
from schemas.outward import Owner
from schemas.statements import Statement
from schemas.text import canonical, sha256

Money = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,11})(\.[0-9]{1,18})?$")]
"""US dollars as an exact decimal, without a sign (rule 1): `0`, `4.98`, `0.00000004`."""
SettingName = Literal["cap", "model", "proposals"]
ToolName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


_MONEY = re.compile(r"(0|[1-9][0-9]{0,11})(\.[0-9]{1,18})?")
_PERSON = re.compile(r"user:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MODEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}/[^\s/][^\s]{0,199}")


class AgentSetting(Statement):
    """A person sets how the agent works. Signed by the console's decision key.

    cap: `subject` is `users` (everybody who has none of their own), `guests` (all of them together) or `user:<id>`; `value` is Money in a
    rolling day, `none` (no limit), or `` (only for `user:<id>`: as everybody). model: `value` is `` (the built-in one) or
    `connector/model`. proposals: `on` or `off`. `prior_version` counts the settings of this name and subject.
    """

    PURPOSE: ClassVar[str] = "schleuse.agent-setting.v1"
    purpose: Literal["schleuse.agent-setting.v1"] = "schleuse.agent-setting.v1"
    name: SettingName
    subject: Line = ""
    value: Line
    decided_at: Instant
    decider: Hash
    prior_version: Annotated[int, Field(ge=0)]


def setting_fault(name: SettingName, subject: str, value: str) -> str | None:
    """What is wrong with a setting, in words; None when it can be one."""
    if name == "cap":
        return _cap_fault(subject, value)
    if subject:
        return f"{name} is set for everybody; it has no subject"
    if name == "model":
        fits = not value or _MODEL.fullmatch(value)
        return None if fits else "a model is written connector/model, or left empty for the built-in one"
    return None if value in ("on", "off") else "proposals are on or off"


def _cap_fault(subject: str, value: str) -> str | None:
    person = _PERSON.fullmatch(subject)
    if subject not in ("users", "guests") and not person:
        return "a cap is that of users, of guests, or of one person"
    if value == "none" or _MONEY.fullmatch(value) or (person and not value):
        return None
    return "a cap is an amount in US dollars such as 5.00, 'none' for no limit, or for one person empty: as everybody"


class Access(Statement):
    """A key that opens the agent's API as one person, until it is over or taken back. Signed by the console's identity key.

    An `apikey` lives until it is revoked or `expires_at`; a `token` for an hour at most. `token_hash`: SHA-256 of the key, which stands
    nowhere. `role` is the most that it may do; the person's own role counts if it is less. `version` counts what was said of this key.
    """

    PURPOSE: ClassVar[str] = "schleuse.access.v1"
    purpose: Literal["schleuse.access.v1"] = "schleuse.access.v1"
    access_id: UUID
    kind: Literal["apikey", "token"]
    subject: UUID
    person_name: Line
    name: Line
    role: Role
    token_hash: Hash
    made_by: Line
    issued_at: Instant
    expires_at: Instant | None = None
    revoked: bool = False
    version: Annotated[int, Field(ge=1)]


AUTOMATE = "create_automation"
"""The tool that always waits on a card (rule 28). What it may do afterwards is delegated for that card and the hash of its argument `instruction` (S10)."""


class ActionCard(Data):
    """What the agent wants to do in a tainted conversation (S11), or a new automation (rule 28), with the exact bytes; built from recorded facts alone (S5).

    `arguments`: canonical JSON of the tool's arguments, which is what will be done, and nothing else. `recipients`: where it goes, in
    ASCII form. `sources`: what untrusted text the conversation has read. `own`: it touches nothing but the owner's own state, so that
    the owner decides, too.
    """

    card_id: UUID
    owner: Owner
    owner_name: Line
    conversation_id: UUID
    tool: ToolName
    arguments: Annotated[Text, Field(max_length=64 * 1024)]
    recipients: tuple[Line, ...] = ()
    sources: tuple[Line, ...] = ()
    own: bool
    requested_at: Instant
    expires_at: Instant

    @property
    def hash(self) -> str:
        return sha256(canonical(self.model_dump(mode="json")))


class ActionDecision(Statement):
    """A person's decision on one action card, bound to exactly what it says. Signed by the console's decision key.

    revoke: an automation that was allowed runs no more.
    """

    PURPOSE: ClassVar[str] = "schleuse.action.v1"
    purpose: Literal["schleuse.action.v1"] = "schleuse.action.v1"
    card_id: UUID
    card_hash: Hash
    verdict: Literal["allow", "refuse", "revoke"]
    decided_at: Instant
    decider: Hash
