"""What every kind of connector is: what it is declared with, what it plans to do, and how it does it.

`plan` is pure and comes first: nothing leaves before the plan's operation, hosts and secrets were granted and the audit has it on disk.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from schemas.outward import Owner, SecretType
from services.connectors.egress.addresses import networks
from services.connectors.egress.way import Way
from services.connectors.kinds.oauth2 import AccessTokens
from services.connectors.secrets.types import SecretValue
from shared.errors import Refused


def _listed(addresses: tuple[str, ...]) -> tuple[str, ...]:
    try:
        networks(addresses)
    except Refused as error:
        raise ValueError(error.message) from None
    return addresses


class KindSettings(BaseModel):
    """Base of what a connector is declared with. Unknown fields are errors. Never a secret.

    `hosts`: the allow-list, `host` or `host:port` or `*.host`, as people write it. `addresses`: private addresses or networks that may be dialled
    although they are private (rule 26). `per_minute`: calls of each asker. `timeout_s`: a whole call, with all its retries.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    hosts: tuple[str, ...] = ()
    addresses: Annotated[tuple[str, ...], AfterValidator(_listed)] = ()
    per_minute: Annotated[int, Field(ge=1, le=100_000)] = 600
    timeout_s: Annotated[float, Field(gt=0, le=30)] = 30.0
    max_response_bytes: Annotated[int, Field(ge=1, le=10 * 1024 * 1024)] = 10 * 1024 * 1024


@dataclass(frozen=True)
class HttpHead:
    """The head of a tunnelled exchange: `url` as the asker's library wrote it; header names in lower case."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body_bytes: int | None = None


@dataclass(frozen=True)
class Request:
    """What is asked of one declared connector: either an operation with arguments, or a tunnelled exchange."""

    connector: str
    settings: KindSettings
    operation: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    http: HttpHead | None = None
    owner: Owner | None = None
    secret: str = ""


@dataclass(frozen=True)
class Plan:
    """What would happen. `hosts`: `host:port` in ASCII. `target`: one line for the audit, without query values, addresses of people, or secrets.

    `secret_types`: for each secret that it takes, the types that will do; empty: none. `wants`: the first is used when the ask names none.
    """

    operation: str
    target: str
    hosts: tuple[str, ...]
    secret_types: tuple[tuple[SecretType, ...], ...] = ()


class Exchange(Protocol):
    """One call while it runs: what it may use, and where its answer goes. The audit counts the bytes."""

    request: Request
    plan: Plan
    secrets: Sequence[SecretValue]
    way: Way
    access: AccessTokens

    def body(self) -> AsyncIterator[bytes]:
        """The asker's request body in chunks; empty for an operation."""
        ...

    async def head(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Answer of a tunnelled exchange: first the head, then `send` as chunks come. Both wait while the asker is slow."""
        ...

    async def send(self, chunk: bytes) -> None: ...

    def tokens(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Usage that the provider reported, for the audit and the end of the answer."""
        ...

    def answered(self, status: str) -> None:
        """The other side's own status, for the audit, where no head says it."""
        ...

    def note(self, detail: str) -> None:
        """Something that the audit should say of this call: a retry, a refreshed token, an echoed credential."""
        ...

    async def rejected(self) -> SecretValue | None:
        """The secret was not accepted over there: the version before it, while both overlap, to try once more."""
        ...


class Kind(Protocol):
    """Raises Refused (what is asked is not allowed or not well-formed), Transient (may work later), Permanent. Messages say what to do."""

    name: ClassVar[str]
    about: ClassVar[str]
    settings: ClassVar[type[KindSettings]]
    operations: ClassVar[frozenset[str]]

    def hosts(self, settings: KindSettings) -> tuple[str, ...]:
        """The whole allow-list, `host:port` in ASCII."""
        ...

    def plan(self, request: Request, publics: Sequence[Mapping[str, str]]) -> Plan:
        """`publics`: the public fields of the secrets that the ask names, where it names any (an account's host)."""
        ...

    async def run(self, exchange: Exchange) -> Any:
        """JSON of an operation's result; None for a tunnelled exchange."""
        ...

    async def check(self, settings: KindSettings, way: Way) -> str:
        """Health: empty when the other side answers, else why not. Costs nothing and needs no secret."""
        ...
