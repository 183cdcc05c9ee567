"""Mail: people's accounts at mail servers, read over IMAP and written over SMTP, always through TLS.

An account is one or two secrets of its owner: `<name>-imap` to read, `<name>-smtp` to send (rules 15, 16). Guests have none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel

from services.connectors.egress.hosts import permits
from services.connectors.egress.way import Way
from services.connectors.kinds.arguments import read_arguments
from services.connectors.kinds.kind import Exchange, KindSettings, Plan, Request
from services.connectors.kinds.mailing import arguments, mailbox
from services.connectors.kinds.mailing.account import Account, place_of
from services.connectors.kinds.mailing.echoes import masked
from services.connectors.kinds.mailing.greeting import look_at_any
from services.connectors.kinds.mailing.imap import Work, visit
from services.connectors.kinds.mailing.outgoing import draft, enter, hand_over
from services.connectors.kinds.mailing.settings import MailSettings, both
from services.connectors.kinds.masking import NOTE
from services.connectors.kinds.retrying import Retrying
from services.connectors.kinds.sending import in_time
from shared.errors import NotFound, Refused, Transient

T = TypeVar("T")
SEND = "send"
READING: Mapping[str, type[BaseModel]] = {
    "folders": arguments.Folders,
    "list": arguments.List,
    "search": arguments.Search,
    "read": arguments.Read,
    "attachment": arguments.Attachment,
    "flag": arguments.Flag,
    "move": arguments.Move,
}
ONCE = frozenset({"move"})
"""What is not tried again once it began: a second copy could be the harm."""
WRONG_LOGIN = frozenset({"login", "login_letters"})
ROOM = 1024 * 1024
"""Bytes of an answer beside the message that was asked for."""


class Mail:
    name: ClassVar[str] = "mail"
    about: ClassVar[str] = "Mail accounts: IMAP to read, SMTP to send"
    settings: ClassVar[type[KindSettings]] = MailSettings
    operations: ClassVar[frozenset[str]] = frozenset({*READING, SEND})

    def hosts(self, settings: KindSettings) -> tuple[str, ...]:
        return both(settings.hosts)

    def plan(self, request: Request, publics: Sequence[Mapping[str, str]]) -> Plan:
        if request.owner is not None and request.owner.kind == "guest":
            raise NotFound("guests have no mail accounts", code="secret_unknown")
        if request.operation == SEND:
            return self._plan_sending(request, [each for each in publics if "sender" in each])
        if request.operation not in READING:
            raise Refused(f"mail takes {', '.join(sorted(self.operations))}; ask it by operation", code="operation")
        read_arguments(READING[request.operation], request)
        accounts = [each for each in publics if "host" in each and "sender" not in each]
        hosts = self._places(request, accounts)
        return Plan(request.operation, " ".join((request.operation, *hosts)), hosts, (("imap",),))

    async def run(self, exchange: Exchange) -> Any:
        async with in_time(exchange, exchange.plan.hosts[0]):
            if exchange.plan.operation == SEND:
                return await _signed_in(exchange, partial(_send, exchange))
            return await _signed_in(exchange, partial(_read, exchange, _work(exchange)))

    async def check(self, settings: KindSettings, way: Way) -> str:
        """A host without a port answers when one of its two does."""
        hosts = [both((each,)) for each in settings.hosts if not each.startswith("*.")]
        faults = await asyncio.gather(*(look_at_any(way, keys) for keys in hosts))
        return next((fault for fault in faults if fault), "")

    def _plan_sending(self, request: Request, publics: Sequence[Mapping[str, str]]) -> Plan:
        """Without an account there is no sender; which account is missing is said by whoever chooses the secret."""
        hosts = self._places(request, publics)
        drafts = [draft(request, each["sender"]) for each in publics] or [draft(request, "nobody@example.invalid")]
        target = " ".join((SEND, *hosts, f"to {len(drafts[0].envelope)}"))
        return Plan(SEND, target, hosts, (("smtp",),))

    def _places(self, request: Request, publics: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
        allowed = self.hosts(request.settings)
        found = tuple(dict.fromkeys(place_of(each) for each in publics))
        for each in found:
            if not permits(allowed, each):
                raise Refused(
                    f"{each} is not among the servers of connector {request.connector}; it has {', '.join(allowed)}",
                    code="egress",
                )
        return found


def _work(exchange: Exchange) -> Work:
    """What is to be done in the mailbox, by the operation."""
    request, most = exchange.request, exchange.request.settings.max_response_bytes
    asked: Any = read_arguments(READING[request.operation], request)
    match request.operation:
        case "folders":
            return mailbox.list_folders
        case "list":
            return lambda client: mailbox.list_messages(client, asked)
        case "search":
            return lambda client: mailbox.search(client, asked)
        case "read":
            return lambda client: mailbox.read_message(client, asked, most)
        case "attachment":
            return lambda client: mailbox.read_attachment(client, asked, most)
        case "move":
            return lambda client: mailbox.move(client, asked)
        case _:
            return lambda client: mailbox.set_flags(client, asked)


async def _signed_in(exchange: Exchange, do: Callable[[Account], Awaitable[T]]) -> T:
    """With the version in use; when that is not accepted, once with the one before it, while both overlap."""
    try:
        return await do(_account(exchange, Account.of(exchange.secrets[0])))
    except Refused as error:
        older = await exchange.rejected() if error.code in WRONG_LOGIN else None
        if older is None:
            raise
    return await do(_account(exchange, Account.of(older)))


def _account(exchange: Exchange, found: Account) -> Account:
    if found.where not in exchange.plan.hosts:
        raise Refused(f"this account is at {found.where}, which was not granted for this call", code="egress")
    return found


async def _read(exchange: Exchange, work: Work, account: Account) -> Any:
    """Reading and flagging twice does no harm; moving is done once. The echo is looked for in the thread, since a message may be large."""
    most = _settings(exchange).max_response_bytes + ROOM

    def do(client: Any) -> tuple[Any, bool]:
        return masked(work(client), account.password)

    again = exchange.plan.operation not in ONCE
    found, echoed = await _retried(exchange, lambda left: visit(exchange.way, account, left, most, do), "OK", again)
    if echoed:
        exchange.note(NOTE)
    return found


async def _send(exchange: Exchange, account: Account) -> Any:
    """Only signing in is tried again."""
    message = draft(exchange.request, account.sender)
    session = await _retried(exchange, lambda left: enter(exchange.way, account, left, message), "")
    try:
        sent = await hand_over(session, message)
    finally:
        session.close()
    exchange.answered(sent["status"])
    return sent


async def _retried(exchange: Exchange, attempt: Callable[[float], Awaitable[T]], status: str, again: bool = True) -> T:
    """`attempt` is given the seconds that are left of the call. Not `again`: it is tried once."""
    settings, loop = _settings(exchange), asyncio.get_running_loop()
    until, tried, failure = loop.time() + settings.timeout_s, 0, None
    while True:
        try:
            found = await attempt(until - loop.time())
        except Transient as error:
            failure = error
        else:
            exchange.answered(status)
            return found
        wait = Retrying(settings.retries if again else 0).after_error(tried, "GET", failure, until - loop.time())
        if wait is None:
            raise failure
        tried += 1
        exchange.note(f"tried again after {failure.code}")
        await asyncio.sleep(wait)


def _settings(exchange: Exchange) -> MailSettings:
    assert isinstance(exchange.request.settings, MailSettings)
    return exchange.request.settings


KIND = Mail()
