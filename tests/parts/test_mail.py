"""Mail against real servers: Debian's Dovecot and aiosmtpd, on loopback and through the real way out (EM-01, EM-02, EM-05)."""

import asyncio
import base64
import email
import email.policy
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.connectors.kinds.mail import KIND
from services.connectors.kinds.mailing.greeting import look_at_any
from services.connectors.secrets.types import SecretValue
from shared.errors import Conflict, NotFound, Refused, SchleuseError
from shared.testing.servers import free_port_base
from tests.counterparts.certificates import Authority
from tests.counterparts.certificates import authority as new_authority
from tests.counterparts.mail.dovecot import Dovecot, running_dovecot
from tests.counterparts.mail.smtp import Mailroom, running_mailroom
from tests.counterparts.mail.visiting import Visitor, account

USERNAME, PASSWORD = "a*b c@example.org", 'pä§§ "w\\rd€'
"""Of case EM-01."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return new_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def visitor(authority: Authority) -> Visitor:
    return Visitor(authority)


@pytest.fixture(scope="module")
def dovecot(authority: Authority) -> Iterator[Dovecot]:
    base = free_port_base()
    accounts = {USERNAME: PASSWORD, "kim@example.org": "right", "ö@bücher.example": "ключ"}
    with running_dovecot(authority, accounts, (base, base + 1)) as found:
        found.deliver("kim@example.org", Path("tests/samples/mail/report.eml").read_bytes())
        found.deliver(
            "kim@example.org",
            b"From: =?utf-8?q?x=0AY?= <b@example.org>\r\nSubject: =?utf-8?q?Hi=0D=0ABcc:_other@example.org?=\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n+2AA-",
        )
        found.deliver("kim@example.org", b"Subject: in a folder\r\n\r\nhello", ".&ANw-bersicht &- mehr")
        yield found


@pytest.fixture(scope="module")
def mailrooms(authority: Authority) -> Iterator[dict[str, Mailroom]]:
    base, context = free_port_base() + 4, authority.context("localhost")
    accounts = {USERNAME: PASSWORD, "kim@example.org": "right"}
    with (
        running_mailroom(base, context, accounts) as full,
        running_mailroom(base + 1, context, accounts, starttls=True, smtputf8=False) as plain,
    ):
        yield {"utf8": full, "ascii": plain}


@pytest.fixture
def kim(dovecot: Dovecot) -> SecretValue:
    return account("imap", dovecot.imaps)


@pytest.fixture
def sender(mailrooms: dict[str, Mailroom]) -> SecretValue:
    return account("smtp", mailrooms["utf8"].port)


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_em_01_any_user_name_and_password_signs_in(visitor: Visitor, dovecot: Dovecot, security: str) -> None:
    port = dovecot.imaps if security == "tls" else dovecot.imap
    for username, password in ((USERNAME, PASSWORD), ("ö@bücher.example", "ключ")):
        found = await visitor.call(account("imap", port, username, password, security), "folders")
        assert {"name": "INBOX", "selectable": True, "special": "inbox"} in found["folders"]


@pytest.mark.parametrize("room", ["utf8", "ascii"])
async def test_em_01_any_user_name_and_password_sends(
    visitor: Visitor, mailrooms: dict[str, Mailroom], room: str
) -> None:
    there = mailrooms[room]
    secret = account("smtp", there.port, USERNAME, PASSWORD, "tls" if room == "utf8" else "starttls")
    await visitor.call(secret, "send", to=["b@example.org"], text="x")
    assert there.logins[-1] == (USERNAME.encode(), PASSWORD.encode())


async def test_a_wrong_password_is_said_without_a_piece_of_it(
    visitor: Visitor, dovecot: Dovecot, sender: SecretValue
) -> None:
    for secret in (
        account("imap", dovecot.imaps, password="wröng €pass"),
        account("smtp", int(sender.fields["port"]), password="wröng €pass"),
    ):
        with pytest.raises(Refused) as refused:
            await visitor.call(
                secret,
                "folders" if secret.type == "imap" else "send",
                **({} if secret.type == "imap" else {"to": ["b@example.org"], "text": ""}),
            )
        assert refused.value.code == "login_letters"
        assert "does not take such a user name or password" in refused.value.message
        assert says_nothing(refused.value, "wröng €pass")


def says_nothing(error: BaseException, value: str) -> bool:
    """No piece of the value, plain or as the protocols carry it, in the error and everything that it chains to."""
    told = "".join(traceback.format_exception(error)) + repr(vars(error))
    chained = error
    while following := chained.__cause__ or chained.__context__:
        told += repr(following) + repr(vars(following))
        chained = following
    forms = [value[start : start + 6] for start in range(max(1, len(value) - 5))]
    forms += [
        base64.b64encode(raw).decode().rstrip("=")[:8]
        for raw in (value.encode(), b"\0kim@example.org\0" + value.encode())
    ]
    return not any(form in told for form in forms)


async def test_the_version_before_is_tried_once_while_both_overlap(
    visitor: Visitor, kim: SecretValue, dovecot: Dovecot
) -> None:
    call = visitor.prepare(account("imap", dovecot.imaps, password="new one"), "folders", {})
    call.earlier = [kim]
    assert await KIND.run(call)


async def test_a_mailbox_is_listed_searched_read_and_flagged(visitor: Visitor, kim: SecretValue) -> None:
    listed = await visitor.call(kim, "list")
    assert [each["subject"] for each in listed["messages"]] == ["Hi Bcc: other@example.org", "Übersicht für März"]
    uid = listed["messages"][-1]["uid"]
    for asked in (
        {"text": "Übersicht für"},
        {"from": "ada@example.org", "seen": False},
        {"subject": "März", "since": "2020-01-01"},
    ):
        found = await visitor.call(kim, "search", **asked)
        assert [each["uid"] for each in found["messages"]] == [uid], asked
    told = await visitor.call(kim, "read", uid=uid, uidvalidity=listed["uidvalidity"])
    assert (told["text"].strip(), told["flags"], told["cut"]) == ("Grüße,\nAda", [], False)
    content = await visitor.call(kim, "attachment", uid=uid, number=1)
    assert (content["name"], base64.b64decode(content["content"])) == ("Zahlen ü.csv", b"a,b\n1,2\n")
    flagged = await visitor.call(kim, "flag", uids=[uid], add=["seen", "flagged", "$Later"])
    assert set(flagged["flags"][str(uid)]) == {"seen", "flagged", "$Later"}
    flagged = await visitor.call(kim, "flag", uids=[uid], remove=["seen", "flagged", "$Later"])
    assert flagged["flags"][str(uid)] == []


async def test_em_02_a_mail_whose_subject_decodes_to_a_header_is_answered_in_one_line(
    visitor: Visitor, kim: SecretValue, sender: SecretValue, mailrooms: dict[str, Mailroom]
) -> None:
    told = (await visitor.call(kim, "search", subject="Bcc"))["messages"][0]
    told = await visitor.call(kim, "read", uid=told["uid"])
    assert (told["subject"], told["from"][0]["name"], told["flagged"]) == ("Hi Bcc: other@example.org", "x Y", True)
    await visitor.call(
        sender,
        "send",
        to=[told["from"][0]["address"]],
        subject=f"Re: {told['subject']}",
        text="x",
        confirmed=["b@example.org"],
    )
    taken = mailrooms["utf8"].taken[-1]
    found = email.message_from_bytes(taken.raw, policy=email.policy.SMTPUTF8)
    assert taken.recipients == ("b@example.org",)
    assert (found["subject"], found["bcc"]) == ("Re: Hi Bcc: other@example.org", None)


async def test_names_of_folders_beyond_ascii(visitor: Visitor, kim: SecretValue) -> None:
    name = "Übersicht & mehr"
    assert name in [each["name"] for each in (await visitor.call(kim, "folders"))["folders"]]
    assert [each["subject"] for each in (await visitor.call(kim, "list", folder=name))["messages"]] == ["in a folder"]
    for wrong in ("&ANw-bersicht &- mehr", "Übersicht", '"INBOX"', "INBOX) (", "INBOX\\", "*", "{5}"):
        with pytest.raises(NotFound):
            await visitor.call(kim, "list", folder=wrong)


async def test_a_mail_is_moved_to_a_folder_that_is_there_and_to_no_other(visitor: Visitor, dovecot: Dovecot) -> None:
    mine = account("imap", dovecot.imaps, "ö@bücher.example", "ключ")
    for subject in (b"goes", b"stays"):
        dovecot.deliver("ö@bücher.example", b"Subject: " + subject + b"\r\n\r\nx")
    uid = (await visitor.call(mine, "search", subject="goes"))["messages"][0]["uid"]
    for to in ("No such folder", "INBOX", "Sent) ("):
        with pytest.raises((NotFound, Refused)):
            await visitor.call(mine, "move", uids=[uid], to=to)
    with pytest.raises(NotFound):
        await visitor.call(mine, "move", uids=[4_000_000_000], to="Sent")
    assert await visitor.call(mine, "move", uids=[uid, 4_000_000_000], to="Sent") == {"moved": [uid], "to": "Sent"}
    subjects = {
        name: [each["subject"] for each in (await visitor.call(mine, "list", folder=name))["messages"]]
        for name in ("INBOX", "Sent")
    }
    assert subjects == {"INBOX": ["stays"], "Sent": ["goes"]}


@pytest.mark.parametrize("words", ["(SEEN", "{3}", "*", "%", '"', "\\", ")", "ALL", "NIL", "a b", "ä {3}", "OR", "]"])
async def test_words_that_are_searched_are_words(visitor: Visitor, kim: SecretValue, words: str) -> None:
    fields = ("text", "from", "to", "subject", "body")
    found = await visitor.call(kim, "search", **dict.fromkeys(fields, f"zq{words}"), limit=1)
    assert found["messages"] == []
    await visitor.call(kim, "search", **dict.fromkeys(fields, words), limit=1)


async def test_what_is_not_there_is_said(visitor: Visitor, kim: SecretValue) -> None:
    for operation, arguments in (
        ("read", {"uid": 999}),
        ("attachment", {"uid": 1, "number": 9}),
        ("flag", {"uids": [999], "add": ["seen"]}),
    ):
        with pytest.raises(NotFound):
            await visitor.call(kim, operation, **arguments)
    with pytest.raises(Conflict):
        await visitor.call(kim, "read", uid=1, uidvalidity=1)


async def test_of_a_mail_over_the_limit_the_beginning_is_told(visitor: Visitor, dovecot: Dovecot) -> None:
    dovecot.deliver(USERNAME, b"Subject: huge\r\n\r\n" + b"0123456789abcde\n" * 200_000)
    mine = account("imap", dovecot.imaps, USERNAME, PASSWORD)
    told = await visitor.call(mine, "read", {"max_response_bytes": 100_000}, uid=1)
    assert (told["cut"], told["text_cut"], told["bytes"] > 3_000_000) == (True, False, True)
    assert 90_000 < len(told["text"]) < 100_000
    with pytest.raises(Refused) as refused:
        await visitor.call(mine, "attachment", {"max_response_bytes": 100_000}, uid=1, number=1)
    assert refused.value.code == "message_too_large"


async def test_em_05_what_goes_to_whom(visitor: Visitor, mailrooms: dict[str, Mailroom]) -> None:
    utf8 = account("smtp", mailrooms["utf8"].port)
    plain = account("smtp", mailrooms["ascii"].port, security="starttls")
    for secret, room in ((utf8, mailrooms["utf8"]), (plain, mailrooms["ascii"])):
        for to, there in (
            ("info@bücher.example", "info@xn--bcher-kva.example"),
            ('"a,b"@example.com', '"a,b"@example.com'),
        ):
            sent = await visitor.call(secret, "send", to=[to], subject="Grüße", text="x")
            assert room.taken[-1].recipients == (there,)
            assert sent["recipients"] == [there]
    await visitor.call(utf8, "send", to=["änne@example.org"], text="x")
    assert mailrooms["utf8"].taken[-1].recipients == ("änne@example.org",)
    assert "To: änne@example.org".encode() in mailrooms["utf8"].taken[-1].raw
    before = len(mailrooms["ascii"].taken)
    with pytest.raises(Refused) as refused:
        await visitor.call(plain, "send", to=["änne@example.org", "b@example.org"], text="x")
    assert (refused.value.code, len(mailrooms["ascii"].taken)) == ("smtputf8", before)
    with pytest.raises(Refused) as refused:
        await visitor.call(utf8, "send", to=["b@exаmple.org"], text="x")
    assert (refused.value.code, "b@xn--exmple-4nf.org" in refused.value.message) == ("confirm", True)


async def test_em_02_either_all_recipients_are_taken_or_nothing_is_sent(
    visitor: Visitor, sender: SecretValue, mailrooms: dict[str, Mailroom]
) -> None:
    room, before = mailrooms["utf8"], len(mailrooms["utf8"].taken)
    room.refused = {"gone@example.org": "550 5.1.1 right is not here", "later@example.org": "451 4.7.1 right later"}
    for address, code in (("gone@example.org", "not_taken"), ("later@example.org", "not_now")):
        with pytest.raises(SchleuseError) as failed:
            await visitor.call(sender, "send", to=["b@example.org", address], text="x")
        assert (failed.value.code, len(room.taken)) == (code, before)
        assert "recipient 2 of 2" in failed.value.message
        assert "right" not in failed.value.message
    sent = await visitor.call(
        sender, "send", to=["b@example.org"], cc=["c@example.org"], bcc=["d@example.org"], text="x"
    )
    assert room.taken[-1].recipients == ("b@example.org", "c@example.org", "d@example.org")
    lines = [line for line in room.taken[-1].raw.splitlines() if not line.startswith(b"Message-ID:")]  # hex digits
    assert not any(b"d@example.org" in line for line in lines)
    assert visitor.last is not None
    assert (sent["status"], visitor.last.status) == ("250 2.0.0", "250 2.0.0")


async def test_a_message_arrives_byte_for_byte_where_it_is_sent(
    visitor: Visitor, sender: SecretValue, mailrooms: dict[str, Mailroom]
) -> None:
    content = bytes(range(256)) * 4000
    files = [{"name": 'Prüf"ung; x=.bin', "content": base64.b64encode(content).decode()}]
    await visitor.call(
        sender,
        "send",
        to=[{"address": "b@example.org", "name": 'Bö, "b"'}],
        text=".\r\n..\nFrom x\n",
        attachments=files,
        from_name="Kim ☂",
    )
    found: Any = email.message_from_bytes(mailrooms["utf8"].taken[-1].raw, policy=email.policy.SMTPUTF8)
    assert found["from"].addresses[0].display_name == "Kim ☂"
    assert found["to"].addresses[0].display_name == 'Bö, "b"'
    body, part = found.iter_parts()
    assert body.get_content().splitlines() == [".", "..", "From x"]
    assert (part.get_filename(), part.get_content()) == ('Prüf"ung; x=.bin', content)


async def test_a_check_greets_and_signs_nobody_in(
    visitor: Visitor, dovecot: Dovecot, mailrooms: dict[str, Mailroom]
) -> None:
    ports = [dovecot.imap, dovecot.imaps, *(each.port for each in mailrooms.values())]
    before = sum(len(each.logins) for each in mailrooms.values())
    hosts = [f"localhost:{port}" for port in ports]
    found = KIND.settings.model_validate({"hosts": hosts, "addresses": ["127.0.0.1", "::1"]})
    assert await KIND.check(found, visitor.door.way(KIND.hosts(found), found.addresses)) == ""
    assert sum(len(each.logins) for each in mailrooms.values()) == before
    way = visitor.door.way((*hosts, "localhost:9"), found.addresses)
    assert await look_at_any(way, ("localhost:9", hosts[0])) == ""
    gone = KIND.settings.model_validate({"hosts": [*hosts, "localhost:9"], "addresses": ["127.0.0.1", "::1"]})
    fault = await KIND.check(gone, visitor.door.way(KIND.hosts(gone), gone.addresses))
    assert fault.startswith("localhost:9 cannot be reached")


async def test_many_visits_at_once(visitor: Visitor, kim: SecretValue) -> None:
    found = await asyncio.gather(*(visitor.call(kim, "list", limit=1) for _ in range(40)))
    assert all(len(each["messages"]) == 1 for each in found)
