"""One call of a kind, as the connectors make it, without their bus and audit: the way out is the real one."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from schemas.outward import SecretPlace, SecretType
from services.connectors.egress.door import Door
from services.connectors.egress.way import Way
from services.connectors.kinds.kind import HttpHead, Kind, Plan, Request
from services.connectors.secrets.types import SecretValue
from shared.settings import Settings

DOOR = Door(cast(Settings, SimpleNamespace(dns_servers=(), outward_ca=None)))
LOOPBACK = ["127.0.0.1"]


def secret(kind: SecretType, version: int = 1, **fields: str) -> SecretValue:
    return SecretValue(SecretPlace(surface="agent", connector="there", name="main"), kind, version, fields)


@dataclass
class Call:
    """An Exchange. What came back: `status`, `headers`, `sent`."""

    request: Request
    plan: Plan
    way: Way
    secrets: Sequence[SecretValue] = ()
    earlier: list[SecretValue] = field(default_factory=list)
    sending: Sequence[bytes] = ()
    access: Any = None
    status: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    sent: bytes = b""
    chunks: list[bytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    usage: tuple[int | None, int | None] = (None, None)

    async def body(self) -> AsyncIterator[bytes]:
        for each in self.sending:
            yield each

    async def head(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        self.status, self.headers = str(status), dict(headers)

    async def send(self, chunk: bytes) -> None:
        self.sent += chunk
        self.chunks.append(chunk)

    def tokens(self, tokens_in: int | None, tokens_out: int | None) -> None:
        self.usage = (tokens_in, tokens_out)

    def answered(self, status: str) -> None:
        self.status = status

    def note(self, detail: str) -> None:
        self.notes.append(detail)

    async def rejected(self) -> SecretValue | None:
        return self.earlier.pop(0) if self.earlier else None


def prepare(
    kind: Kind,
    settings: Mapping[str, Any],
    operation: str = "",
    arguments: Mapping[str, Any] | None = None,
    http: HttpHead | None = None,
    **more: Any,
) -> Call:
    """Planned, and ready for `kind.run`. Loopback is listed, as a person would have to."""
    found = kind.settings.model_validate({"addresses": LOOPBACK, **settings})
    request = Request("there", found, operation, arguments or {}, http)
    return Call(request, kind.plan(request, ()), DOOR.way(kind.hosts(found), found.addresses), **more)


def tunnel(method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> HttpHead:
    return HttpHead(method, f"https://there.connector{path}", tuple((headers or {}).items()), len(body))
