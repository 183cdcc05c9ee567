"""Events of the connectors whose meaning grew: the second versions."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import Data, Hash, Instant, Line


class CallAudited(Data):
    """One entry of the call audit (rule 17): who did what, for whom, through which connector, and how it went. Never a body, never a value of a secret.

    A call has two entries with one `call_id`: `begun` is on disk before anything leaves, the other says how it ended. `lost`: the process
    ended before anybody knew how. `refused`: nothing left. `noted`: something other than a call was done (`operation` says what).
    `secret`: place and version of each secret that was used, no value. `hash` is the entry's own, which the next one commits to.
    """

    entry_id: UUID
    seq: Annotated[int, Field(ge=0)]
    at: Instant
    call_id: UUID
    asker: Line
    on_behalf_of: Line = ""
    connector: Line = ""
    operation: Line
    target: Line = ""
    outcome: Literal["begun", "ok", "failed", "refused", "cancelled", "lost", "noted"]
    status: Line = ""
    secret: Line = ""
    detail: Line = ""
    duration_ms: Annotated[int, Field(ge=0)] | None = None
    bytes_out: Annotated[int, Field(ge=0)] | None = None
    bytes_in: Annotated[int, Field(ge=0)] | None = None
    tokens_in: Annotated[int, Field(ge=0)] | None = None
    tokens_out: Annotated[int, Field(ge=0)] | None = None
    trace_id: Line = ""
    hash: Hash
