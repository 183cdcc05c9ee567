"""The IMAP library over a Wire: it opens no connection, logs nothing, and signs in with any user name and password (EM-01)."""

import imaplib
import ssl
from collections.abc import Callable
from typing import Any

from imapclient import IMAPClient

from services.connectors.kinds.mailing import failures
from services.connectors.kinds.mailing.account import Account
from services.connectors.kinds.mailing.wire import Wire

NOT_NOW = ("[UNAVAILABLE]", "[LIMIT]", "[INUSE]", "[SERVERBUG]")
"""Codes of an answer to signing in that say nothing about user name and password (RFC 5530)."""


class _Protocol(imaplib.IMAP4):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        super().__init__()

    def open(self, host: str = "", port: int = 143, timeout: float | None = None) -> None:
        self.host, self.port, self.sock = "", 0, self._wire.sock

    def read(self, size: int) -> bytes:
        return self._wire.read(size)

    def readline(self) -> bytes:
        return self._wire.readline()

    def send(self, data: Any) -> None:
        self._wire.send(data)

    def shutdown(self) -> None:
        self._wire.close()

    def _log(self, line: object) -> None:
        """The library keeps its last ten lines to print them when something breaks off."""

    def secure(self, context: ssl.SSLContext, host: str) -> bool:
        """STARTTLS; False when the server does not do it. What it said before counts for nothing."""
        if "STARTTLS" not in self.capabilities or self.state != "NONAUTH":
            return False
        if self._simple_command("STARTTLS")[0] != "OK":
            return False
        self._wire.secure(context, host)
        self.sock = self._wire.sock
        self.untagged_responses.clear()
        self._get_capabilities()
        return True

    def sign_in(self, username: bytes, password: bytes) -> tuple[str, list[Any]]:
        """LOGIN with both as literals: bytes as they are, whatever they hold. The library would send a user name unquoted."""
        tag = self._new_tag()
        self.send(tag + b" LOGIN {%d}\r\n" % len(username))
        if self._goes_on(tag):
            self.send(username + b" {%d}\r\n" % len(password))
            if self._goes_on(tag):
                self.send(password + b"\r\n")
        found: tuple[str, list[Any]] = self._get_tagged_response(tag)
        if found[0] == "OK":
            self.state = "AUTH"
        return found

    def _goes_on(self, tag: bytes) -> bool:
        while self._get_response():
            if self.tagged_commands[tag]:
                return False
        return True


class Client(IMAPClient):  # type: ignore[misc]
    """Greeted and, with `starttls`, secured. Raises what failures.HOSTILE lists."""

    def __init__(self, wire: Wire, context: ssl.SSLContext, host: str, starttls: bool) -> None:
        self._wire = wire
        if not starttls:
            wire.secure(context, host)
        super().__init__(host, ssl=False)
        self._imap.debug = 0
        self.normalise_times = False
        if starttls and not self._imap.secure(context, host):
            raise failures.no_starttls(wire.where)

    def _create_IMAP4(self) -> Any:
        return _Protocol(self._wire)

    def enter(self, account: Account) -> None:
        """Sign in. Refused (codes `login`, `login_letters`) when it is not accepted; Permanent (`login_method`), Transient (`busy`)."""
        if self._imap.state == "AUTH":
            return
        offered = {str(each).upper() for each in self._imap.capabilities}
        if "AUTH=PLAIN" in offered:
            answer = f"\0{account.username}\0{account.password}".encode()
            accepted = self._accepted(lambda: self._imap.authenticate("PLAIN", lambda _: answer))
        elif "LOGINDISABLED" not in offered:
            accepted = self._accepted(lambda: self._imap.sign_in(account.username.encode(), account.password.encode()))
        else:
            raise failures.no_login(self._wire.where)
        if not accepted:
            raise failures.login_failed(self._wire.where, account.unusual)
        self._cached_capabilities = None

    def _accepted(self, sign_in: Callable[[], tuple[str, list[Any]]]) -> bool:
        try:
            answer, words = sign_in()
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error as error:
            answer, words = "NO", [str(error)]
        if answer != "OK" and any(code in str(words) for code in NOT_NOW):
            raise failures.busy(self._wire.where)
        return answer == "OK"
