"""Addresses of mail: checked strictly when written, read leniently (EM-05).

A domain is dialled and shown in its ASCII form. What looks like another address is sent to only when the asker repeats the ASCII form.
"""

import re
import unicodedata
from dataclasses import dataclass

import idna

from services.connectors.kinds.mailing.text import Cleaner, check_name
from services.connectors.kinds.mailing.words import decode_words
from shared.errors import Refused

LONGEST, LONGEST_LOCAL = 254, 64
"""Bytes of an address and of the part before its @."""
MOST_LIST = 16 * 1024
"""Characters of a header of addresses that are looked at."""
_ATOM = r"[^\x00-\x20\x7f()<>@,;:\\\".\[\]]+"
_DOT_ATOM = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_QUOTED = re.compile(r'"((?:[^"\\\x00-\x1f\x7f]|\\[^\x00-\x1f\x7f])*)"')
_PAIR = re.compile(r"\\(.)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
PLAIN_LETTERS = frozenset("ßàáâãäåæçèéêëñòóôõöøùúûü")
"""Letters beyond ASCII that nobody takes for another one."""


@dataclass(frozen=True)
class Address:
    """One mailbox. `local` as it is sent, quoted where it must be; `domain` in ASCII. `doubtful`: it may look like another one."""

    local: str
    domain: str
    name: str = ""
    doubtful: bool = False

    @property
    def spec(self) -> str:
        return f"{self.local}@{self.domain}"

    @property
    def ascii(self) -> str:
        """What people confirm: every letter beyond ASCII spelt out."""
        return self.spec.encode("ascii", "backslashreplace").decode()

    @property
    def needs_utf8(self) -> bool:
        """Only a server that offers SMTPUTF8 takes it: there is no other form of such a mailbox."""
        return not self.local.isascii()


def parse(what: str, text: str, name: str = "") -> Address:
    """One address without a name, as a person or a program gives it. Refused (code `address`) says what is wrong with it.

    `what`: where it stands, for the message.
    """
    check_name(what, text, LONGEST * 4)
    check_name(f"the name in {what}", name, 200)
    given = unicodedata.normalize("NFC", text.strip())
    local, at, domain = given.rpartition("@")
    if not at:
        raise _refused(what, "write it as mailbox@domain, one address for each entry")
    host = _domain(what, domain)
    made = Address(_local(what, local), host, decode_words(name), _doubtful(local) or _doubtful(domain, host))
    check_name(f"the name in {what}", made.name, 200)
    if len(made.spec.encode()) > LONGEST:
        raise _refused(what, f"it is longer than {LONGEST} bytes")
    return made


def read_list(cleaner: Cleaner, header: str, most: int = 200) -> list[dict[str, str]]:
    """The addresses of a header of a mail that came: `name` decoded and flat, `address` as it stands there, `ascii` where that differs."""
    return [_shown(cleaner, each) for each in _split(header)[:most]]


def _shown(cleaner: Cleaner, mailbox: str) -> dict[str, str]:
    """The name is decoded last, so that nothing in it can become the address."""
    before, opened, rest = mailbox.rpartition("<")
    address = cleaner.line((rest.partition(">")[0] if opened else mailbox), LONGEST * 2)
    name = cleaner.line(decode_words(_QUOTED.sub(lambda quoted: _PAIR.sub(r"\1", quoted[1]), before)), 200)
    shown = {"name": name, "address": address}
    try:
        ascii_form = parse("it", address).ascii
    except Refused:
        ascii_form = address.encode("ascii", "backslashreplace").decode()
    return shown if ascii_form == address else shown | {"ascii": ascii_form}


def _split(header: str) -> list[str]:
    """At commas and semicolons that stand in no quotes, comment or brackets; comments are left out."""
    made: list[str] = []
    held: list[str] = []
    quoted, comments, bracket, escaped = False, 0, False, False
    for char in header[:MOST_LIST]:
        if escaped or (char == "\\" and (quoted or comments)):
            escaped = not escaped
        elif char == '"' and not comments:
            quoted = not quoted
        elif not quoted and char in "()":
            comments = max(0, comments + (1 if char == "(" else -1))
            continue
        elif not quoted and not comments:
            bracket = (bracket or char == "<") and char != ">"
            if char in ",;" and not bracket:
                made.append("".join(held))
                held = []
                continue
        if not comments:
            held.append(char)
    made.append("".join(held))
    return [each.strip() for each in made if each.strip()]


def _local(what: str, text: str) -> str:
    """In its shortest spelling: quoted only when it must be."""
    if quoted := _QUOTED.fullmatch(text):
        text = _PAIR.sub(r"\1", quoted[1])
    elif not _DOT_ATOM.fullmatch(text):
        raise _refused(
            what, 'the part before the @ holds what must be quoted, as in "a,b"@example.com; one address for each entry'
        )
    if text != unicodedata.normalize("NFKC", text) or any(
        unicodedata.category(char) in {"Cf", "Co", "Cn", "Zs"} for char in text if char != " "
    ):
        raise _refused(what, "the part before the @ has characters that can be taken for others")
    if not text or len(text.encode()) > LONGEST_LOCAL:
        raise _refused(what, f"the part before the @ has 1 to {LONGEST_LOCAL} bytes")
    if _DOT_ATOM.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _domain(what: str, text: str) -> str:
    """Its ASCII form (UTS 46, IDNA 2008). An address of a machine instead of a name is refused."""
    try:
        made = idna.encode(text, uts46=True, std3_rules=True, transitional=False).decode().lower().removesuffix(".")
    except (idna.IDNAError, UnicodeError):
        raise _refused(what, "the part after the @ is no name of a domain") from None
    if _NUMBER.fullmatch(made.rpartition(".")[2]):
        raise _refused(what, "the part after the @ must be a name, not the address of a machine")
    return made


def _doubtful(text: str, ascii_form: str = "") -> bool:
    """Letters that nobody takes for others are not: ASCII, and those of PLAIN_LETTERS."""
    shown = text
    if "xn--" in ascii_form:
        shown += idna.decode(ascii_form)
    return not text.isascii() and any(not char.isascii() and char not in PLAIN_LETTERS for char in shown.lower())


def _refused(what: str, why: str) -> Refused:
    return Refused(f"{what} is no address that mail can go to: {why}", code="address")
