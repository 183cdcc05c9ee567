"""What the agent's HTTP API takes and gives, as it stands in its OpenAPI document. Money is exact, as text; null: not known."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from services.agent.conversations.domain import Conversation as Kept
from services.agent.conversations.domain import Message as KeptMessage
from services.agent.conversations.domain import TurnRecord
from services.agent.spend.domain import Standing, money


class Problem(BaseModel):
    """Every error: what is wrong and what to do; `code` is for programs."""

    code: str
    message: str
    trace_id: str = ""


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewTurn(Body):
    """A message. Whose it is says the key or the session, never the request (rule 24)."""

    text: Annotated[str, Field(description="At most 256 KiB.")]
    conversation_id: Annotated[UUID | None, Field(description="Without it, a new conversation.")] = None
    wait: Annotated[bool, Field(description="Wait up to 25 s for the answer; else come back for it.")] = True
    zone: Annotated[
        str, Field(max_length=64, description="Of a guest's first message: the IANA name of their zone.")
    ] = ""


class NewTitle(Body):
    title: str


class NewZone(Body):
    zone: Annotated[str, Field(examples=["Europe/Berlin"], description="An IANA name, as browsers know it.")]


class Zone(BaseModel):
    """The zone that counts from now on, and a word when it is not the one that was named (rule 6)."""

    zone: str
    notice: str = ""


class Spending(BaseModel):
    """The rolling day of whoever pays: the person, or all guests together. `cap` null: no limit."""

    cap: str | None
    spent: str
    reserved: str
    left: str | None
    frees_at: datetime | None
    frees: str
    unknown_calls: int


class Whoami(BaseModel):
    """`token` goes into `X-Form-Token` with what changes something, where a cookie says who is asking; a key needs none."""

    kind: Literal["user", "guest"]
    name: str
    role: str
    zone: str
    token: str
    spending: Spending


class Conversation(BaseModel):
    """`tainted`: what untrusted text it has read (S11). `cost` null: not known."""

    conversation_id: UUID
    title: str
    created_at: datetime
    changed_at: datetime
    tainted: list[str]
    cost: str | None


class ToolCall(BaseModel):
    call_id: str
    tool: str
    arguments: dict[str, Any]
    state: str
    result: Any
    shown: str
    ms: int


class Message(BaseModel):
    """user: `text`. reply: `text`, `aborted` when it was cut off. tools: `calls`. note: what the workplace tells."""

    number: int
    part: Literal["user", "reply", "tools", "note"]
    text: str
    at: datetime
    turn_id: UUID | None
    calls: list[ToolCall]
    aborted: bool
    flagged: bool


class Found(BaseModel):
    """A message with the words that were looked for, and its conversation."""

    conversation_id: UUID
    title: str
    message: Message


class Turn(BaseModel):
    """`state`: accepted (not over yet), ok, aborted, failed, refused. `tools`: names, in the order in which they ran. `before`: turns of the conversation that come first."""

    turn_id: UUID
    conversation_id: UUID
    state: str
    before: int = 0
    reply: str = ""
    tools: list[str] = []
    cost: str | None = None
    error: str = ""
    token: Annotated[str, Field(description="A new guest's: see /v1/me.")] = ""


def spending_of(standing: Standing) -> Spending:
    return Spending(
        cap=_money(standing.cap),
        spent=money(standing.spent),
        reserved=money(standing.reserved),
        left=_money(standing.left),
        frees_at=standing.frees_at,
        frees=money(standing.frees),
        unknown_calls=standing.unknown,
    )


def conversation_of(each: Kept, cost: Decimal | None) -> Conversation:
    return Conversation(
        conversation_id=each.conversation_id,
        title=each.title,
        created_at=each.created_at,
        changed_at=each.changed_at,
        tainted=list(each.tainted),
        cost=_money(cost),
    )


def message_of(each: KeptMessage) -> Message:
    calls = [ToolCall(**vars(call)) for call in each.calls]
    names = ("number", "part", "text", "at", "turn_id", "aborted", "flagged")
    return Message(calls=calls, **{name: getattr(each, name) for name in names})


def turn_of(record: TurnRecord) -> Turn:
    return Turn(
        turn_id=record.turn_id,
        conversation_id=record.conversation_id,
        state=record.outcome,
        reply=record.reply,
        tools=[call.tool for call in record.calls],
        cost=_money(record.cost),
        error=record.error,
    )


def _money(amount: Decimal | None) -> str | None:
    return None if amount is None else money(amount)
