"""Character sets as mails name them, which is often not what they use."""

import codecs
import re

from services.connectors.kinds.mailing.text import REPLACEMENT

_UNSAFE = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
"""Codecs that are no character sets; one of them takes quadratic time."""
_WIDER = {
    "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
}  # fmt: skip
"""What is written under a name that cannot hold all of it; the same everywhere else."""
_NAMED = {"windows-31j": "cp932", "sjis": "cp932", "iso-8859-8-i": "iso8859-8", "iso-8859-8-e": "iso8859-8", "iso-8859-6-i": "iso8859-6", "iso-8859-6-e": "iso8859-6", "ansi_x3.4-1968": "ascii", "unicode-1-1-utf-7": "utf-7", "utf-8mb4": "utf-8"}  # fmt: skip
"""Names that Python does not know."""
_NUMBERED = re.compile(r"(?:windows|cp|ibm|ms)[-_]?(\d{3,5})", re.ASCII)


def decode_bytes(raw: bytes, charset: str = "") -> str:
    """By its character set where that is known and fits, else as UTF-8, else as what old mail programs wrote. Never fails."""
    codec = _codec(charset)
    if codec not in ("", "ascii", "utf-8"):
        return raw.decode(codec, "replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        told = raw.decode("utf-8", "replace")
    # nothing of it is UTF-8: only its name was
    others = {each for each in told if not each.isascii()}
    return told if codec == "utf-8" and others != {REPLACEMENT} else raw.decode("cp1252", "replace")


def _codec(charset: str) -> str:
    """Python's name of it; empty when it is none that is known."""
    name = charset.strip().strip("\"'").lower()
    if not re.fullmatch(r"[a-z0-9_.:+-]{1,40}", name):
        return ""
    name = name.removeprefix("x-")
    numbered = _NUMBERED.fullmatch(name)
    for each in (_NAMED.get(name, name), f"cp{numbered[1]}" if numbered else "", name.replace("-", "_")):
        try:
            found = codecs.lookup(each.replace(".", "_"))
            # what is no character set says so only where there is something to decode
            b" ".decode(found.name, "replace")
        except (LookupError, ValueError):
            continue
        return "" if found.name.replace("-", "_") in _UNSAFE else _WIDER.get(found.name, found.name)
    return ""
