"""Events of the connectors."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import Data, Instant, Line


class CallAudited(Data):
    """One entry of the call audit: who called what, and how it ended. Never a body, never a value of a secret."""

    entry_id: UUID
    seq: int
    at: Instant
    asker: Line
    on_behalf_of: Line = ""
    connector: Line
    operation: Line
    target: Line
    outcome: Literal["ok", "failed", "refused"]
    status: Line = ""
    duration_ms: Annotated[int, Field(ge=0)] = 0
    bytes_out: Annotated[int, Field(ge=0)] = 0
    bytes_in: Annotated[int, Field(ge=0)] = 0
    trace_id: Line = ""
