"""One call of the mail kind, as the connectors make it: the real way out, trusting the tests' authority."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Literal, cast

from schemas.outward import Owner, SecretPlace
from services.connectors.egress.door import Door
from services.connectors.kinds.kind import Request
from services.connectors.kinds.mail import KIND
from services.connectors.secrets.types import SecretValue
from shared.settings import Settings
from tests.counterparts.calls import Call
from tests.counterparts.certificates import Authority

LOOPBACK = ("127.0.0.1", "::1")
OWNER = Owner(kind="user", id="7")


def account(
    kind: Literal["imap", "smtp"],
    port: int,
    username: str = "kim@example.org",
    password: str = "right",
    security: str = "tls",
    host: str = "localhost",
    **more: str,
) -> SecretValue:
    place = SecretPlace(surface="agent", connector="mail", owner=OWNER, name=f"inbox-{kind}")
    fields = {"host": host, "port": str(port), "security": security, "username": username, "password": password}
    return SecretValue(place, kind, 1, fields | ({"sender": "kim@example.org"} if kind == "smtp" else {}) | more)


@dataclass
class Visitor:
    """`settings` of the connector that the calls go through; `last` is the call that was made last."""

    authority: Authority
    settings: dict[str, Any] = field(default_factory=dict)
    last: Call | None = None

    @cached_property
    def door(self) -> Door:
        return Door(cast(Settings, SimpleNamespace(dns_servers=(), outward_ca=self.authority.file)))

    def prepare(self, secret: SecretValue, operation: str, arguments: Mapping[str, Any], **settings: Any) -> Call:
        key = f"{secret.fields['host']}:{secret.fields['port']}"
        given = {"hosts": [key], "addresses": LOOPBACK, "timeout_s": 10.0, "retries": 0}
        found = KIND.settings.model_validate(given | self.settings | settings)
        request = Request("mail", found, operation, arguments, owner=OWNER)
        plan = KIND.plan(request, [{name: text for name, text in secret.fields.items() if name != "password"}])
        self.last = Call(request, plan, self.door.way(plan.hosts, found.addresses), [secret])
        return self.last

    async def call(
        self, secret: SecretValue, operation: str, /, settings: Mapping[str, Any] | None = None, **arguments: Any
    ) -> Any:
        return await KIND.run(self.prepare(secret, operation, arguments, **(settings or {})))
