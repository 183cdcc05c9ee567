"""The wire of asking. A message is one line of JSON, a line feed, and raw bytes; an answer is a row of numbered frames.

Both directions are held back by whoever reads: an answer by `more` (totals that the asker has taken), a body by `CREDIT` frames
(totals that the connectors have taken). Totals, so that one that is lost or comes twice does no harm.
"""

import json
import struct
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.model import Hash, Line
from schemas.outward import Name
from schemas.statements import Signed
from shared.errors import Refused, TooLarge

CHUNK = 128 * 1024
"""Bytes of one frame or one piece of a body at most; a message of the bus holds 1 MiB."""
WINDOW = 1024 * 1024
"""Bytes of an answer that are under way at most."""
FIRST_BODY = 256 * 1024
"""Bytes of a body that travel with the request itself."""
BODY_WINDOW = 512 * 1024
MAX_BODY = 10 * 1024 * 1024
ALIVE_EVERY = 5.0
"""Seconds: both sides say so often that they are still there."""
GONE_AFTER = 20.0
LONGEST_WAIT = 3600
"""Seconds that an ask may wait for a person (rule 31)."""

M = TypeVar("M", bound="Message")


class Message(BaseModel):
    """Base of what an asker says. Unknown parameters are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Ask(Message):
    """A request. `ask_id` is the asker's own word for it, among its running ones. `delegation`: a signed Delegation, to act for its owner.

    `quoted`: the asker's own text for the card that a person may have to decide (rule 28); the ask waits for that up to `wait_s` seconds.
    `body_bytes`: of all of its body, None when not known yet; `more`: the body goes on in `send`.
    """

    ask_id: UUID
    connector: Name
    operation: Line = ""
    secret: Annotated[str, Field(max_length=64)] = ""
    delegation: Signed | None = None
    instruction_hash: Hash | None = None
    wait_s: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = 0
    quoted: Annotated[str, Field(max_length=4000)] = ""
    traceparent: Annotated[str, Field(max_length=64)] = ""
    body_bytes: Annotated[int, Field(ge=0)] | None = 0
    more: bool = False


class HttpAsk(Ask):
    """A tunnelled exchange: its head as the asker's library wrote it."""

    method: Annotated[str, Field(pattern=r"^[A-Z]{1,20}$")]
    url: Annotated[str, Field(max_length=16 * 1024)]
    headers: Annotated[tuple[tuple[str, str], ...], Field(max_length=200)] = ()


class AuditAsk(Message):
    """A search in the asker's own part of the call audit; `query` as the search takes it."""

    ask_id: UUID
    delegation: Signed | None = None
    query: dict[str, Any] = Field(default_factory=dict)


class More(Message):
    """How much of each running answer was taken, bytes in total. An answer that is not named any more has nobody who reads it."""

    taken: dict[UUID, int]


class Send(Message):
    ask_id: UUID
    number: Annotated[int, Field(ge=1)]
    last: bool


class Cancel(Message):
    """Either by the asker's own word or by the call's id in the audit."""

    ask_id: UUID | None = None
    call_id: UUID | None = None


def pack(message: Message, body: bytes = b"") -> bytes:
    return message.model_dump_json(exclude_defaults=True).encode() + b"\n" + body


def unpack(kind: type[M], raw: bytes) -> tuple[M, bytes]:
    """Refused (`unknown_parameter`, `malformed`) when it is not such a message."""
    head, _, body = raw.partition(b"\n")
    try:
        return kind.model_validate_json(head), body
    except ValidationError as error:
        raise _refused(error) from None


def message(kind: type[M], **fields: Any) -> M:
    """A message to send. Refused as `unpack` says; what was given is not repeated."""
    try:
        return kind(**fields)
    except ValidationError as error:
        raise _refused(error) from None


def _refused(error: ValidationError) -> Refused:
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return Refused(f"unknown parameter {where[:100]!r}; nothing was done", code="unknown_parameter")
    return Refused(f"{where or 'the request'}: {fault['msg']}; nothing was done"[:400], code="malformed")


FrameKind = Literal["K", "C", "H", "B", "E", "X"]
KEEP: Final = "K"
CREDIT: Final = "C"
HEAD: Final = "H"
BODY: Final = "B"
END: Final = "E"
ERROR: Final = "X"
"""Still at it; room for the body (total, decimal); head of an HTTP answer; a piece of the answer; how it ended well; the error that ended it."""
_HEAD = struct.Struct(">cI")


@dataclass(frozen=True)
class Frame:
    kind: str
    number: int
    payload: bytes

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.payload)
        return found


def frame(kind: FrameKind, number: int, payload: bytes = b"") -> bytes:
    return _HEAD.pack(kind.encode(), number) + payload


def read_frame(raw: bytes) -> Frame:
    """Refused (`malformed`) when it is none."""
    if len(raw) < _HEAD.size:
        raise Refused("an answer of the connectors cannot be read", code="malformed")
    kind, number = _HEAD.unpack_from(raw)
    return Frame(kind.decode("latin-1"), number, raw[_HEAD.size :])


def check_body(size: int | None) -> None:
    """TooLarge names the limit (rule 5)."""
    if size is not None and size > MAX_BODY:
        raise TooLarge(
            f"the request's body has {size} bytes; a connector takes {MAX_BODY} at most. Send it in parts.",
            code="body_too_large",
        )
