"""An account at a mail server, as its secret says: where it is and who signs in. For the time of one call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from services.connectors.egress.hosts import canonical_host, host_key
from services.connectors.secrets.types import SecretValue


@dataclass(frozen=True)
class Account:
    """`host` in ASCII, as its certificate must name it. `starttls`: TLS begins after the greeting; it always begins."""

    host: str
    port: int
    starttls: bool
    username: str = field(repr=False)
    password: str = field(repr=False)
    sender: str = field(repr=False)

    @classmethod
    def of(cls, secret: SecretValue) -> Self:
        fields = secret.fields
        return cls(
            canonical_host(fields["host"]),
            int(fields["port"]),
            fields["security"] == "starttls",
            fields["username"],
            fields["password"],
            fields.get("sender", ""),
        )

    @property
    def where(self) -> str:
        return host_key(self.host, self.port)

    @property
    def unusual(self) -> bool:
        """Characters that many servers cannot read: letters beyond ASCII, line breaks."""
        text = f"{self.username}{self.password}"
        return not (text.isascii() and text.isprintable())


def place_of(public: Mapping[str, str]) -> str:
    """`host:port` of an account, from what may be shown of it."""
    return host_key(public["host"], int(public["port"]))
