"""CloudEvents 1.0, structured JSON."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field, field_serializer

from schemas.model import Data, Instant, Line
from schemas.text import parse_json

TYPE_PREFIX = "io.schleuse."


class Envelope(Data):
    """One event on the bus. `key` and `keyversion` order the history of one aggregate as its source counts it."""

    specversion: str = Field(default="1.0", pattern=r"^1\.0$")
    id: UUID
    source: str = Field(pattern=r"^/[a-z]+$")
    type: str = Field(pattern=r"^io\.schleuse\.[a-z_]+\.[a-z_]+$")
    dataschema: str
    datacontenttype: str = "application/json"
    subject: Line
    time: Instant
    traceparent: str = Field(default="", max_length=60)
    key: Line
    keyversion: int = Field(ge=0)
    causationid: UUID | None = None
    correlationid: UUID | None = None
    actor: Line | None = None
    data: dict[str, Any]

    @field_serializer("time")
    def _time(self, at: datetime) -> str:
        return at.isoformat(timespec="microseconds").replace("+00:00", "Z")

    @property
    def name(self) -> str:
        """`item.decided` from `io.schleuse.item.decided`."""
        return self.type.removeprefix(TYPE_PREFIX)

    @property
    def service(self) -> str:
        return self.source.removeprefix("/")

    def to_bytes(self) -> bytes:
        return self.model_dump_json(exclude_none=True).encode()

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Envelope":
        """BadJson or ValidationError when the bytes are not an envelope."""
        return cls.model_validate(parse_json(raw))
