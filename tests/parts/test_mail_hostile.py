"""Mail servers that do not behave: broken TLS, nobody there, passwords that are not taken, answers of any size and shape. A typed error each time."""

import asyncio
import base64
import random
import ssl
import threading
import time
import traceback
from typing import Any

import pytest

from services.connectors.kinds.mail import KIND
from services.connectors.secrets.types import SecretValue
from shared.errors import SchleuseError
from tests.counterparts.certificates import Authority
from tests.counterparts.certificates import authority as new_authority
from tests.counterparts.mail.scripted import Gone, Line, Script, imap, running_script, smtp
from tests.counterparts.mail.visiting import Visitor, account

PASSWORD = 'pä§§ "w\rd€'
"""Of case EM-01, with a real carriage return."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return new_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def visitor(authority: Authority) -> Visitor:
    return Visitor(authority)


@pytest.fixture(scope="module")
def context(authority: Authority) -> ssl.SSLContext:
    return authority.context("localhost")


async def failing(
    visitor: Visitor,
    secret: SecretValue,
    operation: str = "list",
    /,
    settings: dict[str, Any] | None = None,
    **arguments: Any,
) -> SchleuseError:
    """The error, which holds nothing of the password or of what the server said, and chains to nothing that does."""
    if secret.type == "smtp":
        operation, arguments = "send", {"to": ["b@example.org"], "text": "x"} | arguments
    with pytest.raises(SchleuseError) as failed:
        await visitor.call(secret, operation, settings, **arguments)
    error = failed.value
    told, chained = "".join(traceback.format_exception(error)) + repr(vars(error)), error.__cause__ or error.__context__
    while chained is not None:
        told, chained = told + repr(chained) + repr(vars(chained)), chained.__cause__ or chained.__context__
    password = secret.fields["password"]
    for secret_form in (
        password,
        repr(password)[1:-1],
        base64.b64encode(password.encode()).decode(),
        base64.b64encode(f"\0{secret.fields['username']}\0{password}".encode()).decode(),
    ):
        assert secret_form not in told
    assert "SERVER-WORDS" not in told
    return error


KINDS = pytest.mark.parametrize("kind", ["imap", "smtp"])


@KINDS
@pytest.mark.parametrize(("fault", "code"), [
    ("expired", "tls"), ("other name", "tls"), ("unknown", "tls"), ("plain", "tls"), ("cut", "broken_off"), ("silent", "timeout"),
    ("nobody", "unreachable"), ("unresolved", "unresolved"),
])  # fmt: skip
async def test_a_connection_that_does_not_come_about(
    visitor: Visitor, authority: Authority, tmp_path_factory: pytest.TempPathFactory, kind: Any, fault: str, code: str
) -> None:
    made = {
        "expired": lambda: authority.context("localhost", expired=True),
        "other name": lambda: authority.context("mail.example.org"),
        "unknown": lambda: new_authority(tmp_path_factory.mktemp("stranger")).context("localhost"),
    }.get(fault, lambda: authority.context("localhost"))()
    scripts: dict[str, Script] = {
        "plain": lambda line: line.say(b"HTTP/1.1 400 SERVER-WORDS\r\n\r\n"),
        "cut": lambda line: None,
        "silent": lambda line: time.sleep(1),
    }
    script = scripts.get(fault, lambda line: line.say(b"* OK\r\n"))
    with running_script(made, script, tls=fault not in scripts) as server:
        port = 9 if fault == "nobody" else server.port
        secret = account(kind, port, host="nowhere.invalid" if fault == "unresolved" else "localhost")
        error = await failing(visitor, secret, settings={"timeout_s": 0.6} if fault == "silent" else None)
    assert error.code == code or (fault, error.code) == ("cut", "tls"), error.message


@KINDS
async def test_without_starttls_nothing_is_said_in_the_open(
    visitor: Visitor, context: ssl.SSLContext, kind: Any
) -> None:
    with running_script(context, imap() if kind == "imap" else smtp(), tls=False) as server:
        error = await failing(visitor, account(kind, server.port, security="starttls"))
    assert (error.code, "STARTTLS" in error.message) == ("tls", True)
    assert all(word not in b"".join(server.heard).upper() for word in (b"AUTH", b"LOGIN", b"MAIL"))


@KINDS
async def test_what_was_said_before_tls_counts_for_nothing(
    visitor: Visitor, context: ssl.SSLContext, kind: Any
) -> None:
    """Answers sent along with the one to STARTTLS come from whoever sits between."""

    def mailbox(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        if command == b"STARTTLS":
            line.say(tag + b" OK go\r\n* CAPABILITY IMAP4rev1 LOGINDISABLED\r\n* BYE injected\r\n")
            line.secure()
        return command == b"STARTTLS"

    def mailroom(line: Line, raw: bytes) -> bytes | None:
        if raw.upper() != b"STARTTLS":
            return None
        line.say(b"220 go\r\n554 injected\r\n554 injected\r\n")
        line.secure()
        return b""

    offers = (b"STARTTLS", b"AUTH PLAIN")
    script = imap(mailbox, capabilities=b"STARTTLS AUTH=PLAIN") if kind == "imap" else smtp(mailroom, offers=offers)
    with running_script(context, script, tls=False) as server:
        secret = account(kind, server.port, security="starttls")
        if kind == "imap":
            assert (await visitor.call(secret, "list"))["total"] == 3
        else:
            assert (await visitor.call(secret, "send", to=["b@example.org"], text="x"))["status"] == "250 2.0.0"


@pytest.mark.parametrize("username", ["a*b c@example.org", 'ö"\\x'])
async def test_em_01_literals_carry_any_password_to_a_server_that_only_knows_login(
    visitor: Visitor, context: ssl.SSLContext, username: str
) -> None:
    given = []

    def login(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        while command == b"LOGIN" and (size := rest.strip().rpartition(b"{")[2].rstrip(b"}")):
            line.say(b"+ \r\n")
            given.append(line.hear(int(size)))
            rest = line.hear()
        if command == b"LOGIN":
            line.say(tag + b" OK in\r\n")
        return command == b"LOGIN"

    with running_script(context, imap(login, capabilities=b"SASL-IR")) as server:
        assert (await visitor.call(account("imap", server.port, username, PASSWORD), "list"))["total"] == 3
    assert given == [username.encode(), PASSWORD.encode()]


@pytest.mark.parametrize(
    "answer", [b"BAD SERVER-WORDS 8bit", b"NO SERVER-WORDS", b"NO [AUTHENTICATIONFAILED] SERVER-WORDS"]
)
@pytest.mark.parametrize("method", [b"LOGIN", b"AUTHENTICATE"])
async def test_em_01_a_server_that_does_not_take_such_a_password(
    visitor: Visitor, context: ssl.SSLContext, method: bytes, answer: bytes
) -> None:
    """Before the literal, after it, or to AUTHENTICATE; the server repeats what it heard."""
    for late in (False, True):

        def refuse(line: Line, tag: bytes, command: bytes, rest: bytes, late: bool = late) -> bool:
            if command == method and late:
                line.say(b"+ \r\n")
                rest = line.hear() if method == b"AUTHENTICATE" else line.hear(int(rest.strip(b"{}\r\n")))
                line.hear() if method == b"LOGIN" else b""
            if command == method:
                line.say(tag + b" " + answer + b" " + rest.strip() + b"\r\n")
            return command == method

        offered = b"AUTH=PLAIN" if method == b"AUTHENTICATE" else b"X"
        with running_script(context, imap(refuse, capabilities=offered)) as server:
            error = await failing(visitor, account("imap", server.port, "a*b c@example.org", PASSWORD))
            assert error.code == "login_letters"
            assert "does not take such a user name or password" in error.message
            assert (await failing(visitor, account("imap", server.port, password="plain"))).code == "login"


@pytest.mark.parametrize(("offers", "answers", "code"), [
    ((b"AUTH PLAIN",), {b"AUTH": b"535 5.7.8 SERVER-WORDS"}, "login_letters"), ((b"AUTH LOGIN",), {b"AUTH": b"535 5.7.8 SERVER-WORDS"}, "login_letters"),
    ((b"AUTH PLAIN",), {b"AUTH": b"454 4.7.0 SERVER-WORDS"}, "busy"), ((b"AUTH CRAM-MD5 XOAUTH2",), {}, "login_method"), ((), {}, "login_method"),
    ((b"AUTH PLAIN", b"SIZE 100"), {}, "message_too_large"), ((b"AUTH PLAIN",), {b"EHLO": b"554 SERVER-WORDS"}, "not_taken"), ((b"AUTH PLAIN",), {b"MAIL": b"451 4.3.0 SERVER-WORDS"}, "not_now"),
    ((b"AUTH PLAIN",), {b"MAIL": b"550 5.7.1 SERVER-WORDS"}, "not_taken"), ((b"AUTH PLAIN",), {b"RCPT": b"550 5.1.1 SERVER-WORDS"}, "not_taken"),
    ((b"AUTH PLAIN",), {b"RCPT": b"abc SERVER-WORDS"}, "bad_answer"), ((b"AUTH PLAIN",), {b"RCPT": b"\xff\xff"}, "bad_answer"), ((b"AUTH PLAIN",), {b"RCPT": b"354 SERVER-WORDS"}, "bad_answer"),
    ((b"AUTH PLAIN",), {b"RCPT": b"250-" + b"x" * 9000}, "bad_answer"), ((b"AUTH PLAIN",), {b"RCPT": b"250-x\r\n" * 20_000}, "bad_answer"), ((b"AUTH PLAIN",), {b"DATA": b"554 5.6.0 SERVER-WORDS"}, "not_taken"),
    ((b"AUTH PLAIN",), {b"<MESSAGE>": b"552 5.3.4 SERVER-WORDS"}, "not_taken"), ((b"AUTH PLAIN",), {b"<MESSAGE>": b"451 4.3.0 SERVER-WORDS"}, "not_now"),
    ((b"AUTH PLAIN",), {b"<MESSAGE>": b"nonsense"}, "unknown_outcome"), ((b"AUTH PLAIN",), {b"MAIL": None}, "broken_off"), ((b"AUTH PLAIN",), {b"RCPT": None}, "broken_off"),
    ((b"AUTH PLAIN",), {b"<MESSAGE>": None}, "unknown_outcome"), ((b"AUTH PLAIN",), {b"DATA": None}, "unknown_outcome"),
])  # fmt: skip
async def test_what_a_submission_server_may_answer(
    visitor: Visitor, context: ssl.SSLContext, offers: tuple[bytes, ...], answers: dict[bytes, bytes | None], code: str
) -> None:
    """None: it breaks off there. Whatever it is, a message is handed over at most once."""

    def reply(line: Line, raw: bytes) -> bytes | None:
        command = raw.split()[0].upper() if raw else b""
        if command not in answers:
            return None
        said = answers[command]
        if said is None:
            raise Gone
        return said + b" " + raw + b"\r\n"

    with running_script(context, smtp(reply, offers=offers)) as server:
        error = await failing(
            visitor, account("smtp", server.port, password=PASSWORD), settings={"retries": 2, "timeout_s": 4}
        )
    assert error.code == code, error.message
    assert server.heard.count(b"DATA\r\n") <= 1


@KINDS
async def test_what_was_not_sent_is_tried_again(visitor: Visitor, context: ssl.SSLContext, kind: Any) -> None:
    tries = iter([True, True, False])
    usual = imap() if kind == "imap" else smtp()

    def twice_gone(line: Line) -> None:
        if not next(tries):
            usual(line)

    with running_script(context, twice_gone) as server:
        secret = account(kind, server.port)
        found = await (
            visitor.call(secret, "list", {"retries": 2})
            if kind == "imap"
            else visitor.call(secret, "send", {"retries": 2}, to=["b@example.org"], text="")
        )
        assert (found.get("total"), found.get("status")) in ((3, None), (None, "250 2.0.0"))
        assert server.connections == 3
    assert visitor.last is not None
    assert visitor.last.notes == ["tried again after broken_off"] * 2


async def test_a_message_whose_answer_does_not_come_in_time_may_have_been_sent(
    visitor: Visitor, context: ssl.SSLContext
) -> None:
    def late(line: Line, raw: bytes) -> bytes | None:
        if raw == b"<message>":
            line.hear()
        return None

    with running_script(context, smtp(late)) as server:
        for patience in (1.0, 4.0, 30.0):  # it must last until the message is handed over, however busy the machine is
            error = await failing(visitor, account("smtp", server.port), settings={"timeout_s": patience})
            if b".\r\n" in server.heard:
                break
            assert error.code == "timeout"
    assert error.code == "unknown_outcome"


@KINDS
async def test_a_handshake_that_hangs_is_cut_with_its_call(
    visitor: Visitor, context: ssl.SSLContext, kind: Any
) -> None:
    gone = threading.Event()

    def wait(line: Line) -> None:
        while line.hear(1):
            pass
        gone.set()

    with running_script(context, wait, tls=False) as server:
        arguments = {} if kind == "imap" else {"to": ["b@example.org"], "text": ""}
        call = visitor.prepare(account(kind, server.port), "list" if kind == "imap" else "send", arguments)
        task = asyncio.create_task(KIND.run(call))
        while not server.heard:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(gone.wait, 15)


def to_fetch(answer: bytes) -> Script:
    def reply(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        if command == b"FETCH":
            line.say(answer)
            line.say(tag + b" OK done\r\n")
        return command == b"FETCH"

    return imap(reply)


FETCHED = {
    "announced": (b"* 1 FETCH (UID 1 BODY[]<0> {99999999999}\r\n", "answer_too_large"),
    "digits": (b"* 1 FETCH (UID 1 BODY[]<0> {" + b"9" * 5000 + b"}\r\n", "bad_answer"),
    "more than asked": (b"* 1 FETCH (UID 1 BODY[]<0> {3000000}\r\n" + b"x" * 3_000_000 + b")\r\n", "answer_too_large"),
    "long line": (b"* " + b"x" * 2_000_000 + b"\r\n", "bad_answer"),
    "many lines": (b"* 1 FETCH (UID 1)\r\n" * 150_000, "answer_too_large"),
    "deep": (b"* 1 FETCH " + b"(" * 100_000 + b"\r\n", "bad_answer"),
    "open": (b"* 1 FETCH (UID 1 BODY[]<0> \r\n", "bad_answer"),
    "no pairs": (b"* 1 FETCH (UID)\r\n", "bad_answer"),
    "no number": (b"* x FETCH (UID 1)\r\n", "bad_answer"),
    "quotes": (b'* 1 FETCH (UID 1 BODY[]<0> "SERVER-WORDS\r\n', "bad_answer"),
    "nothing": (b"", "message"),
    "another": (b"* 1 FETCH (UID 2 BODY[]<0> {1}\r\nx)\r\n", "message"),
    "no body": (b"* 1 FETCH (UID 1 BODY[]<0> NIL RFC822.SIZE x)\r\n", "message"),
    "refused": (b"* NO SERVER-WORDS\r\nZZZZ BAD SERVER-WORDS\r\n", "bad_answer"),
    "bye": (b"* BYE SERVER-WORDS\r\n", "broken_off"),
    "tag": (b"ZZZZ99 OK SERVER-WORDS\r\n", "bad_answer"),
    "continuation": (b"+ SERVER-WORDS\r\n* 1 FETCH (UID 1)\r\n", "message"),
    "binary": (bytes(range(256)) * 20 + b"\r\n", "bad_answer"),
}


@pytest.mark.parametrize("name", FETCHED)
async def test_what_a_mailbox_may_answer(visitor: Visitor, context: ssl.SSLContext, name: str) -> None:
    answer, code = FETCHED[name]
    with running_script(context, to_fetch(answer)) as server:
        begun = time.monotonic()
        error = await failing(visitor, account("imap", server.port), "read", {"max_response_bytes": 1_000_000}, uid=1)
    assert error.code in {code, "bad_answer", "broken_off"} if code == "bad_answer" else error.code == code, (
        error.message
    )
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize("answer", [b"NO [NOPERM] SERVER-WORDS", b"BAD SERVER-WORDS", b"NO"])
async def test_a_request_that_is_not_taken(visitor: Visitor, context: ssl.SSLContext, answer: bytes) -> None:
    def refuse(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        if command in {b"SEARCH", b"STORE", b"FETCH", b"LIST"}:
            line.say(tag + b" " + answer + b" \r\n")
        return command in {b"SEARCH", b"STORE", b"FETCH", b"LIST"}

    with running_script(context, imap(refuse)) as server:
        secret = account("imap", server.port)
        for operation, arguments in (
            ("search", {"seen": True}),
            ("flag", {"uids": [1], "add": ["seen"]}),
            ("move", {"uids": [1], "to": "Archive"}),
            ("read", {"uid": 1}),
            ("list", {}),
            ("folders", {}),
        ):
            assert (await failing(visitor, secret, operation, **arguments)).code == "not_taken"


async def test_a_connection_that_breaks_off_says_nothing_about_the_folder(
    visitor: Visitor, context: ssl.SSLContext
) -> None:
    def leave(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        if command == b"EXAMINE":
            raise Gone
        return False

    with running_script(context, imap(leave)) as server:
        assert (await failing(visitor, account("imap", server.port))).code == "broken_off"


async def test_a_slow_drip_ends_with_the_calls_time(visitor: Visitor, context: ssl.SSLContext) -> None:
    def drip(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        while command == b"FETCH":
            line.say(b"*")
            time.sleep(0.05)
        return False

    with running_script(context, imap(drip)) as server:
        begun = time.monotonic()
        error = await failing(visitor, account("imap", server.port), "read", {"timeout_s": 1}, uid=1)
    assert (error.code, time.monotonic() - begun < 3) == ("timeout", True)


@KINDS
async def test_a_call_that_is_ended_cuts_its_connection(visitor: Visitor, context: ssl.SSLContext, kind: Any) -> None:
    gone = threading.Event()

    def wait(line: Line) -> None:
        line.say(b"* OK" if kind == "imap" else b"220")
        line.hear()
        gone.set()

    with running_script(context, wait) as server:
        arguments = {} if kind == "imap" else {"to": ["b@example.org"], "text": ""}
        call = visitor.prepare(account(kind, server.port), "list" if kind == "imap" else "send", arguments)
        task = asyncio.create_task(KIND.run(call))
        while not server.connections:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(gone.wait, 15)


async def test_names_of_folders_in_broken_encodings_are_told(visitor: Visitor, context: ssl.SSLContext) -> None:
    names = [
        b"&",
        b"&&-",
        b"&AGk",
        b"&2AA-",
        b"&!!-",
        b"&AAA-",
        b'"&AA0ACg-x"',
        b"12",
        b"\xff\xfe",
        b"{3}\r\na\r\n",
        b'"a\\"b"',
    ]

    def folders(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        if command == b"LIST":
            line.say(
                b"".join(b'* LIST (\\HasNoChildren \\Sent) "/" ' + each + b"\r\n" for each in names)
                + tag
                + b" OK done\r\n"
            )
        return command == b"LIST"

    with running_script(context, imap(folders)) as server:
        found = (await visitor.call(account("imap", server.port), "folders"))["folders"]
    assert len(found) >= len(names) - 2
    for each in found:
        each["name"].encode()
        assert len(each["name"].splitlines()) <= 1


async def test_a_password_that_the_server_puts_into_a_mail_does_not_reach_the_asker(
    visitor: Visitor, context: ssl.SSLContext
) -> None:
    password = "a long pass-wörd"
    spelled = [
        password,
        base64.b64encode(password.encode()).decode(),
        password.encode().hex(),
        base64.b64encode(f"\0kim@example.org\0{password}".encode()).decode(),
    ]
    raw = "\r\n".join(
        [
            "Subject: " + spelled[1],
            "Content-Type: multipart/mixed; boundary=b",
            "",
            "--b",
            "",
            *spelled,
            "--b",
            "Content-Disposition: attachment",
            "",
            *spelled,
            "--b--",
        ]
    ).encode()
    answer = b"* 1 FETCH (UID 1 BODY[]<0> {%d}\r\n" % len(raw) + raw + b")\r\n"
    with running_script(context, to_fetch(answer)) as server:
        secret = account("imap", server.port, password=password)
        told = await visitor.call(secret, "read", uid=1)
        assert visitor.last is not None
        assert visitor.last.notes == ["an echoed credential was masked"]
        content = base64.b64decode((await visitor.call(secret, "attachment", uid=1, number=1))["content"]).decode()
    for each in spelled:
        assert each not in told["text"] + told["subject"] + content
    assert told["text"].count("*") > 50


GOOD = (
    b'* 1 FETCH (UID 1 FLAGS (\\Seen $x) RFC822.SIZE 12 INTERNALDATE "01-Jan-2026 10:00:00 +0000" BODY[]<0> {12}\r\nSubject: x\r\n BODY[HEADER.FIELDS (SUBJECT)] {12}\r\nSubject: y\r\n)\r\n'
    b'* SEARCH 1 2 3\r\n* LIST (\\X) "/" "INBOX"\r\n* FLAGS (\\Seen)\r\n* 3 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n'
)


def spoilt(chance: random.Random, raw: bytes) -> bytes:
    """A few bytes of a good answer cut, doubled or replaced."""
    made = bytearray(raw)
    for _ in range(chance.randint(1, 6)):
        at, length = chance.randrange(len(made)), chance.randint(0, 12)
        part = bytes(made[at : at + length])
        made[at : at + length] = chance.choice(
            [
                b"",
                part * 2,
                chance.randbytes(length),
                b"(",
                b")",
                b'"',
                b"{9}\r\n",
                b"\r\n",
                b"{-1}",
                b"\x00",
                b"NIL",
                b"\\",
            ]
        )
    return bytes(made)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 40))])
async def test_spoilt_answers_are_read_or_refused(visitor: Visitor, context: ssl.SSLContext, seed: int) -> None:
    chance = random.Random(seed)

    def reply(line: Line, tag: bytes, command: bytes, rest: bytes) -> bool:
        if command in {b"CAPABILITY", b"AUTHENTICATE", b"LOGOUT"}:
            return False
        line.say(spoilt(chance, GOOD) + tag + b" OK done\r\n")
        return True

    asked = [
        ("list", {}),
        ("search", {"text": "x"}),
        ("read", {"uid": 1}),
        ("folders", {}),
        ("flag", {"uids": [1], "add": ["seen"]}),
        ("move", {"uids": [1], "to": "Archive"}),
        ("attachment", {"uid": 1, "number": 1}),
    ]
    with running_script(context, imap(reply)) as server:
        for operation, arguments in asked:
            call = visitor.prepare(account("imap", server.port), operation, arguments, timeout_s=1.0)
            try:
                await KIND.run(call)
            except SchleuseError as error:
                assert error.code not in {"error", "internal"}
