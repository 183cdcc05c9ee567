"""aiosmtpd as a submission server: TLS from the start or by STARTTLS, accounts, and with or without SMTPUTF8. Keeps what it took."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass
class Taken:
    """One message, as the server took it."""

    sender: str
    recipients: tuple[str, ...]
    raw: bytes


@dataclass
class Mailroom:
    """`host` is what the certificate names. `refused`: what is answered to a recipient instead of taking it."""

    port: int
    taken: list[Taken] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    logins: list[tuple[bytes, bytes]] = field(default_factory=list)

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        content = envelope.original_content or b""
        self.taken.append(Taken(str(envelope.mail_from), tuple(envelope.rcpt_tos), content))
        return "250 2.0.0 taken"


class _Controller(Controller):
    def factory(self) -> SMTP:
        """Nobody sends who has not signed in. The library warns of that where it does not know of the TLS that is there from the start."""
        made = super().factory()
        made._auth_required = True
        return made


@contextmanager
def running_mailroom(
    port: int,
    context: ssl.SSLContext,
    accounts: Mapping[str, str],
    *,
    starttls: bool = False,
    smtputf8: bool = True,
    **more: Any,
) -> Iterator[Mailroom]:
    room = Mailroom(port)
    known = {name.encode(): password.encode() for name, password in accounts.items()}

    def check(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        room.logins.append((data.login, data.password))
        return AuthResult(success=known.get(data.login) == data.password, handled=False)

    tls = {"tls_context": context, "require_starttls": True} if starttls else {"ssl_context": context}
    controller = _Controller(
        room, hostname="127.0.0.1", port=port, authenticator=check, auth_require_tls=starttls, enable_SMTPUTF8=smtputf8, **(tls | more)
    )  # fmt: skip
    controller.start()
    try:
        yield room
    finally:
        controller.stop()
