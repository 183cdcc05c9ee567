"""A person's mail account in the running product: put as two secrets, granted by a card, used by the agent on that person's behalf (EM-01, EM-02, EM-05)."""

import asyncio
import base64
import json
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import pytest

from schemas.outward import Owner
from shared.asking.asker import Asker
from shared.errors import SchleuseError
from shared.ids import fresh_id
from shared.sealing import check_fields, read_place, read_recipient, seal
from shared.testing.servers import free_port_base, short_folder
from tests.counterparts.certificates import Authority
from tests.counterparts.certificates import authority as new_authority
from tests.counterparts.mail.dovecot import Dovecot, running_dovecot
from tests.counterparts.mail.scripted import Line, imap, running_script
from tests.counterparts.mail.smtp import Mailroom, running_mailroom
from tests.factories.asking import OWNER, asking, decide, declare, delegation, entries
from tests.factories.leaks import found_in, plant
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
T = TypeVar("T")
MAIL = f"mail-{fresh_id().hex[:6]}"
USERNAME, PASSWORD = "a*b c@example.org", plant() + 'pä§§ "w\\rd€'
"""Of case EM-01."""
OPERATIONS = ("list", "read", "flag", "send", "folders")


@dataclass
class Provider:
    authority: Authority
    dovecot: Dovecot
    mailroom: Mailroom

    @property
    def hosts(self) -> list[str]:
        return [f"localhost:{each}" for each in (self.dovecot.imaps, self.mailroom.port, self.slow, self.nobody)]

    @property
    def nobody(self) -> int:
        """Where nobody listens."""
        return self.mailroom.port + 1

    @property
    def slow(self) -> int:
        return self.mailroom.port + 2


@pytest.fixture(scope="module")
def provider(stack: Stack) -> Iterator[Provider]:
    """The connectors trust its certificates: `outward_ca` is read when they start."""
    held, folder = stack.layout.config.read_text(), short_folder("authority")
    authority = new_authority(folder)
    stack.layout.config.write_text(json.dumps(json.loads(held) | {"outward_ca": str(authority.file)}))
    stack.back("connectors", stack.kill("connectors"))
    base, accounts = free_port_base(), {USERNAME: PASSWORD}
    try:
        with (
            running_dovecot(authority, accounts, (base, base + 1)) as dovecot,
            running_mailroom(base + 2, authority.context("localhost"), accounts) as mailroom,
        ):
            dovecot.deliver(
                USERNAME, b"From: b@example.org\r\nSubject: =?utf-8?q?Hi=0ABcc:_other@example.org?=\r\n\r\nhello"
            )
            yield Provider(authority, dovecot, mailroom)
    finally:
        stack.layout.config.write_text(held)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def account(stack: Stack, provider: Provider) -> str:
    """Its name. The owner's, for the agent through this connector alone."""
    declare(stack, MAIL, kind="mail", hosts=provider.hosts, addresses=["127.0.0.1", "::1"], timeout_s=10)
    put(stack, "inbox", "imap", provider.dovecot.imaps)
    put(stack, "inbox", "smtp", provider.mailroom.port)
    for operation, arguments in (
        ("list", {}),
        ("read", {"uid": 1}),
        ("flag", {"uids": [1], "add": ["seen"]}),
        ("folders", {}),
        ("send", {"to": ["first@example.org"], "text": "x"}),
    ):
        granted(stack, operation, arguments)
    return "inbox"


def put(stack: Stack, name: str, kind: Literal["imap", "smtp"], port: int, action: str = "put", **more: Any) -> None:
    place = read_place(f"agent/{MAIL}/{OWNER}/{name}-{kind}")
    sender = {"sender": "me@example.org"} if kind == "smtp" else {}
    fields = {
        "host": "localhost",
        "port": str(port),
        "username": USERNAME,
        "password": more.pop("password", PASSWORD),
    } | sender
    sealed = base64.b64encode(seal(read_recipient(stack.layout.public_keys), place, kind, fields)).decode()
    wanted = {
        "action": action,
        "place": str(place),
        "type": kind,
        "sealed": sealed,
        "public": check_fields(kind, fields).public(),
    }
    stack.ask("console", "secrets.change", **wanted, **more, reason="a test")


def acting(stack: Stack, use: Callable[[Asker, Any], Awaitable[T]], owner: Owner = OWNER) -> T:
    signed = delegation(stack, *(f"{MAIL}.{each}" for each in OPERATIONS), owner=owner)
    return asking(stack, lambda asker: use(asker, signed))


def granted(stack: Stack, operation: str, arguments: dict[str, Any], secret: str = "inbox") -> Any:
    async def use(asker: Asker, signed: Any) -> Any:
        answer = asyncio.ensure_future(
            asker.call(MAIL, operation, arguments, secret=secret, delegation=signed, wait_s=20)
        )
        await asyncio.to_thread(decide, stack, MAIL)
        return await answer

    return acting(stack, use)


def call(stack: Stack, operation: str, owner: Owner = OWNER, secret: str = "inbox", **arguments: Any) -> Any:
    """The result, or the error."""

    async def use(asker: Asker, signed: Any) -> Any:
        try:
            return await asker.call(MAIL, operation, arguments, secret=secret, delegation=signed)
        except SchleuseError as error:
            return error

    return acting(stack, use, owner)


def test_em_01_the_agent_reads_and_sends_for_its_owner_and_the_audit_says_so(
    stack: Stack, provider: Provider, account: str
) -> None:
    told = call(stack, "read", uid=1)
    assert (told["subject"], told["text"]) == ("Hi Bcc: other@example.org", "hello")
    sent = call(
        stack, "send", to=[{"address": "info@bücher.example", "name": "Bö"}], subject=f"Re: {told['subject']}", text="ä"
    )
    assert sent["recipients"] == [*provider.mailroom.taken[-1].recipients] == ["info@xn--bcher-kva.example"]
    written = until(lambda: entries(stack, MAIL, operation="send", outcome="ok")[1:])[-1]
    until(lambda: len(entries(stack, MAIL, operation="send", outcome="ok")) == len(provider.mailroom.taken))
    assert (written["on_behalf_of"], written["secret"]) == ("user:7", f"agent/{MAIL}/user:7/inbox-smtp v1")
    assert (written["target"], written["status"]) == (f"send localhost:{provider.mailroom.port} to 1", "250 2.0.0")
    assert f"localhost:{provider.mailroom.port} [" in written["detail"]
    assert found_in([json.dumps(entries(stack, MAIL)), provider.dovecot.log]) == []
    assert "example" not in json.dumps(entries(stack, MAIL))


@pytest.mark.parametrize("owner", [Owner(kind="user", id="8"), Owner(kind="user", id="7x")])
def test_another_owner_has_no_such_account(stack: Stack, account: str, owner: Owner) -> None:
    """Rules 16 and 24: like one that does not exist."""
    found, never = call(stack, "list", owner), call(stack, "list", owner, secret="never")
    assert (found.code, never.code) == ("secret_unknown", "secret_unknown")
    assert found.message.replace("inbox", "never") == never.message
    assert call(stack, "list", Owner(kind="guest", id="7")).code == "secret_unknown"


def test_em_02_and_em_05_what_is_refused_leaves_nothing(stack: Stack, provider: Provider, account: str) -> None:
    before, refused = len(provider.mailroom.taken), len(entries(stack, MAIL, outcome="refused"))
    asked: list[tuple[dict[str, Any], str]] = [
        ({"to": ["b@example.org"], "subject": "Hi\nBcc: other@example.org"}, "header"),
        ({"to": ["b@example.org"], "subject": "=?utf-8?q?Hi=0ABcc:_other@example.org?="}, "header"),
        ({"to": ["b@exаmple.org"]}, "confirm"),
        ({"to": ["b@example.org"], "confirmed": ["c@example.org"]}, "confirm"),
        ({"to": ["b@example.org"], "headers": {"Bcc": "other@example.org"}}, "arguments"),
        ({"to": ["b@example.org\r\nRCPT TO:<other@example.org>"]}, "header"),
    ]
    for arguments, code in asked:
        assert call(stack, "send", text="x", **arguments).code == code
    assert (
        call(stack, "send", text="x", to=["b@exаmple.org"], confirmed=["b@xn--exmple-4nf.org"])["status"] == "250 2.0.0"
    )
    assert len(provider.mailroom.taken) == before + 1
    noted = entries(stack, MAIL, outcome="refused")[refused:]
    assert [each["status"] for each in noted] == [code for _, code in asked]
    assert "exmple" not in json.dumps(noted)


def test_accounts_elsewhere_and_at_servers_that_are_down(stack: Stack, provider: Provider, account: str) -> None:
    reason = stack.ask("connectors", "connectors.check", name=MAIL)["reason"]
    assert "cannot be reached" in reason and reason.startswith("localhost:")
    put(stack, "foreign", "imap", 9)
    assert call(stack, "list", secret="foreign").code == "egress"
    put(stack, "gone", "imap", provider.nobody)
    with pytest.raises(SchleuseError) as failed:
        granted(stack, "list", {}, secret="gone")
    assert failed.value.code == "unreachable"
    written = until(lambda: entries(stack, MAIL, operation="list", outcome="failed"))[-1]
    assert (written["status"], written["secret"]) == ("unreachable", f"agent/{MAIL}/user:7/gone-imap v1")
    assert call(stack, "list")["total"] == 1


def test_the_password_before_opens_while_both_count_and_nothing_opens_once_it_is_revoked(
    stack: Stack, provider: Provider, account: str
) -> None:
    """The provider still has the old one. Rule 16: a revocation works within a second."""
    put(stack, "second", "imap", provider.dovecot.imaps)
    granted(stack, "list", {}, secret="second")
    put(stack, "second", "imap", provider.dovecot.imaps, "rotate", password=plant(), overlap_s=300)
    assert call(stack, "list", secret="second")["total"] == 1
    place = f"agent/{MAIL}/{OWNER}/second-imap"
    assert entries(stack, MAIL, operation="secret.older_version")[-1]["secret"] == f"{place} v1"
    stack.ask("console", "secrets.change", place=place, action="revoke", reason="a test")
    assert call(stack, "list", secret="second").code == "secret_revoked"


def test_a_visit_under_way_ends_within_a_second_when_its_secret_is_revoked(
    stack: Stack, provider: Provider, account: str
) -> None:
    waiting, gone = threading.Event(), threading.Event()

    def hang(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        if command == b"EXAMINE":
            waiting.set()
            gone.set() if line.hear() == b"" else None
        return command == b"EXAMINE"

    async def use(asker: Asker, signed: Any) -> tuple[str, float]:
        answer = asyncio.ensure_future(asker.call(MAIL, "list", {}, secret="slow", delegation=signed, wait_s=20))
        await asyncio.to_thread(decide, stack, MAIL)
        assert await asyncio.to_thread(waiting.wait, 10)
        place = f"agent/{MAIL}/{OWNER}/slow-imap"
        await asyncio.to_thread(stack.ask, "console", "secrets.change", place=place, action="revoke", reason="a test")
        begun = time.monotonic()
        with pytest.raises(SchleuseError) as ended:
            await answer
        return ended.value.code, time.monotonic() - begun

    with running_script(provider.authority.context("localhost"), imap(hang), port=provider.slow):
        put(stack, "slow", "imap", provider.slow)
        code, seconds = acting(stack, use)
        assert (code, seconds < 1, gone.wait(1)) == ("secret_revoked", True, True)
