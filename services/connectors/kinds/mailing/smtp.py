"""Handing a message over: everything up to the first recipient may be tried again, nothing after it. Either all recipients are taken, or nothing is sent."""

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import suppress

from aiosmtplib import SMTP, SMTPAuthenticationError, SMTPException, SMTPResponseException

from services.connectors.egress.way import Way
from services.connectors.kinds.mailing import failures
from services.connectors.kinds.mailing.account import Account
from services.connectors.kinds.mailing.addresses import Address
from shared.errors import Permanent, Refused, SchleuseError, TooLarge, Transient

FAULTS = (SMTPException, OSError, ValueError, RuntimeError)
IN_TIME = 0.97
"""Of the call's time, for handing over: when it is over, it must be said that nobody knows."""


class Session:
    """Signed in. Close it. `until`: by the loop's clock, shortly before the call's own end, so that its end can still be told."""

    def __init__(self, client: SMTP, account: Account, until: float) -> None:
        self._client, self._account, self._until = client, account, until

    def close(self) -> None:
        self._client.close()

    def check(self, size: int, needs_utf8: bool) -> None:
        """Refused (code `smtputf8`) when a mailbox cannot be written for this server (EM-05); TooLarge (`message_too_large`)."""
        if needs_utf8 and not self._client.supports_extension("smtputf8"):
            raise Refused(
                f"{self._account.where} takes no mailboxes with letters beyond ASCII before the @ (it offers no SMTPUTF8); "
                "nothing was sent: use an address in ASCII letters",
                code="smtputf8",
            )
        limit = self._client.esmtp_extensions.get("size", "")
        if limit.isascii() and limit.isdigit() and 0 < int(limit[:18]) < size:
            raise TooLarge(
                f"the message has {size} bytes; {self._account.where} takes at most {limit[:18]}",
                code="message_too_large",
            )

    async def hand_over(self, sender: Address, recipients: Sequence[Address], message: bytes, utf8: bool) -> str:
        """The server's status. Refused when it does not take the sender, one of the recipients, or the message."""
        failure: SchleuseError | None = None
        try:
            await self._envelope(sender, recipients, len(message), utf8)
        except FAULTS as error:
            failure = explain(error, self._account.where)
        if failure is None:
            return await self._data(message)
        raise failure

    async def leave(self) -> None:
        with suppress(*FAULTS):
            await self._client.quit()

    async def _envelope(self, sender: Address, recipients: Sequence[Address], size: int, utf8: bool) -> None:
        options = [b"SIZE=%d" % size] if self._client.supports_extension("size") else []
        options += [b"BODY=8BITMIME", b"SMTPUTF8"] if utf8 else []
        await self._say("the sender", b"MAIL", b"FROM:<" + sender.spec.encode() + b">", *options)
        for number, each in enumerate(recipients, start=1):
            await self._say(f"recipient {number} of {len(recipients)}", b"RCPT", b"TO:<" + each.spec.encode() + b">")

    async def _say(self, what: str, *command: bytes) -> None:
        answer = await self._client.execute_command(*command)
        if not 200 <= answer.code < 300:
            raise _not_taken(self._account.where, what, answer.code, answer.message)

    async def _data(self, message: bytes) -> str:
        """After this nobody knows whether it was sent, unless the server says so."""
        failure: SchleuseError = Permanent(
            f"{self._account.where} broke off after the message was handed over: it may have been sent or not; "
            "look among the sent mails before you send it again",
            code="unknown_outcome",
        )
        try:
            async with asyncio.timeout_at(self._until):
                answer = await self._client.data(message)
        except SMTPResponseException as error:
            if 400 <= error.code < 600:
                failure = _not_taken(self._account.where, "the message", error.code, error.message)
        except FAULTS:
            pass
        else:
            return failures.meaning(answer.code, answer.message).partition(":")[0]
        raise failure


async def enter(way: Way, account: Account, seconds: float, helo: str) -> Session:
    """Connected over TLS and signed in. Nothing of a message was sent when this fails."""
    until = asyncio.get_running_loop().time() + seconds * IN_TIME
    sock = await way.dial(account.host, account.port)
    client = SMTP(
        hostname=account.host, sock=sock, use_tls=not account.starttls, start_tls=False, tls_context=way.tls(),
        local_hostname=helo, timeout=seconds,
    )  # fmt: skip
    session: Session | None = None
    failure: SchleuseError
    try:
        session = await _enter(client, account, way.tls(), until)
    except SchleuseError as error:
        failure = error
    except FAULTS as error:
        failure = explain(error, account.where)
    finally:
        if session is None:
            client.close()  # and with it the socket, which is the loop's from here on: closed under its hands it would end another call's
    if session is not None:
        return session
    failure.__cause__ = failure.__context__ = None
    raise failure.with_traceback(None)


async def _enter(client: SMTP, account: Account, context: ssl.SSLContext, until: float) -> Session:
    await client.connect()
    await client.ehlo()
    if account.starttls:
        await _secure(client, account, context)
    await _sign_in(client, account)
    return Session(client, account, until)


def explain(error: BaseException, where: str) -> SchleuseError:
    """Like failures.explain, for what the SMTP library raises: it wraps the cause of a failed connection."""
    if isinstance(error, SMTPResponseException):
        return _not_taken(where, "this connection", error.code, error.message)
    if isinstance(error, TimeoutError):
        return failures.explain(error, where)
    if isinstance(error.__cause__, OSError):
        error = error.__cause__
    return failures.explain(ConnectionResetError() if isinstance(error, SMTPException) else error, where)


async def _secure(client: SMTP, account: Account, context: ssl.SSLContext) -> None:
    if not client.supports_extension("starttls"):
        raise failures.no_starttls(account.where)
    await client.starttls(server_hostname=account.host, tls_context=context)
    await client.ehlo()


async def _sign_in(client: SMTP, account: Account) -> None:
    """PLAIN or LOGIN, in UTF-8; never in the open: this comes after TLS."""
    methods = set(client.server_auth_methods)
    username, password = account.username.encode(), account.password.encode()
    try:
        if "plain" in methods:
            await client.auth_plain(username, password)
        elif "login" in methods:
            await client.auth_login(username, password)
        else:
            raise failures.no_login(account.where)
    except SMTPAuthenticationError as error:
        failure = (
            failures.busy(account.where)
            if 400 <= error.code < 500
            else failures.login_failed(account.where, account.unusual)
        )
    else:
        return
    raise failure


def _not_taken(where: str, what: str, code: int, words: str) -> SchleuseError:
    """4xx: not now. 5xx: not ever. Anything else is no answer."""
    said = failures.meaning(code, words)
    if 400 <= code < 500:
        return Transient(
            f"{where} does not take {what} at the moment ({said}); nothing was sent, try again later", code="not_now"
        )
    if 500 <= code < 600:
        return Refused(f"{where} does not take {what} ({said}); nothing was sent", code="not_taken")
    return failures.explain(ValueError(), where)
