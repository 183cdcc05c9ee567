"""A message taken apart (RFC 2045), for hostile ones: linear in its size, bounded in depth and number, and nothing in it raises.

The standard library's parser nests one generator for each level and asks every level about every line; a few kilobytes of nested
boundaries cost it minutes. This one cuts bytes.
"""

import base64
import quopri
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import Message

from services.connectors.kinds.mailing.charsets import decode_bytes

DEEPEST, MOST_PARTS, MOST_HEADERS = 16, 200, 256 * 1024
"""Levels, parts, and bytes of one header section. What lies beyond is left as it is, unparsed."""
MOST_VALUE = 64 * 1024
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
_FOLD = re.compile(rb"\r?\n(?=[ \t])")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
_FOOTER = re.compile(rb"\r?\n[ \t]*\r?\n(?=[^\r\n]*[^A-Za-z0-9+/=\s])")
"""Where a list has put words of its own behind what is encoded."""
_PARAMETER_FAULTS = (ValueError, LookupError, TypeError, AttributeError, RecursionError, AssertionError)


@dataclass
class Entity:
    """`headers`: lower-case name and unfolded value as raw bytes. `parts` of a multipart, else `body` as it was transferred."""

    headers: list[tuple[str, bytes]] = field(default_factory=list)
    body: bytes = b""
    parts: list["Entity"] = field(default_factory=list)
    content_type: str = "text/plain"
    charset: str = ""
    file_name: str = ""
    attached: bool = False

    def header(self, name: str) -> bytes:
        """The first of that name; empty when there is none."""
        return next((value for held, value in self.headers if held == name), b"")

    def leaves(self) -> Iterator["Entity"]:
        if not self.parts:
            yield self
        for each in self.parts:
            yield from each.leaves()

    def content(self) -> bytes:
        """Decoded as its transfer encoding says; broken encodings give what can be read of them."""
        match self.header("content-transfer-encoding").strip().lower():
            case b"base64":
                text = _FOOTER.split(self.body.strip(), 1)[0]
                return b"".join(_from_base64(_NOT_BASE64.sub(b"", each)) for each in text.split(b"="))
            case b"quoted-printable":
                return quopri.decodestring(self.body)
        return self.body


def _from_base64(clean: bytes) -> bytes:
    """Of letters of base64 without padding; one that is left over holds nothing."""
    return base64.b64decode(clean[: len(clean) - (len(clean) % 4 == 1)] + b"=" * (-len(clean) % 4))


def take_apart(raw: bytes) -> Entity:
    """Never fails. What is no message at all is one part of text."""
    return _entity(raw, 0, [MOST_PARTS])


def _entity(raw: bytes, depth: int, left: list[int]) -> Entity:
    left[0] -= 1
    made = Entity()
    made.headers, made.body = _sections(raw)
    boundary = _describe(made)
    if boundary and depth < DEEPEST and made.content_type.startswith("multipart/"):
        for each in _cut(made.body, boundary, left[0]):
            if left[0] <= 0:
                break
            made.parts.append(_entity(each, depth + 1, left))
    return made


def _sections(raw: bytes) -> tuple[list[tuple[str, bytes]], bytes]:
    if raw.startswith((b"\r\n", b"\n")):
        return [], raw.lstrip(b"\r\n") if len(raw) < 3 else raw[raw.index(b"\n") + 1 :]
    end = _HEADERS_END.search(raw, 0, MOST_HEADERS)
    head, body = (raw[: end.start()], raw[end.end() :]) if end else (raw[:MOST_HEADERS], raw[MOST_HEADERS:])
    return list(_headers(head)), body


def _headers(head: bytes) -> Iterator[tuple[str, bytes]]:
    for line in re.split(rb"\r?\n", _FOLD.sub(b"", head)):
        name, colon, value = line.partition(b":")
        if colon and name.strip():
            yield name.strip().decode("ascii", "replace").lower(), value.strip()[:MOST_VALUE]


def _describe(made: Entity) -> bytes:
    """Enter its type, character set, name and disposition; returns the boundary of a multipart. Broken parameters count as none."""
    kind = _parameters(made.header("content-type"))
    disposition = _parameters(made.header("content-disposition"))
    made.content_type = _plainly(kind.get_content_type)
    made.charset = _plainly(lambda: kind.get_param("charset"))
    made.file_name = _plainly(lambda: _named(disposition, "filename")) or _plainly(lambda: _named(kind, "name"))
    made.attached = _plainly(disposition.get_content_type).startswith("attachment")
    return _plainly(lambda: kind.get_param("boundary")).encode("ascii", "replace")


def _parameters(raw: bytes) -> Message:
    """The standard library's reading of `type; name=value` (RFC 2231 too), on one clean line of bounded length."""
    made = Message()
    text = re.sub(r"[\x00-\x1f\x7f]+", " ", raw[:4096].decode("latin-1"))
    if text.strip():
        made["Content-Type"] = (
            text if "/" in text.split(";")[0] else re.sub(r"^\s*([A-Za-z-]*)", r"\1/x", text, count=1)
        )
    return made


def _plainly(read: Callable[[], object]) -> str:
    try:
        found = read()
    except _PARAMETER_FAULTS:
        return ""
    if isinstance(found, tuple):  # RFC 2231: character set, language, value
        charset, _, value = found
        return decode_bytes(value.encode("latin-1", "replace"), charset if isinstance(charset, str) else "")
    return decode_bytes(found.encode("latin-1", "replace")) if isinstance(found, str) else ""


def _named(parameters: Message, name: str) -> object:
    """Its value; the one that says its character set (RFC 2231) before the plain one, which is for programs that do not know it."""
    found = [value for held, value in parameters.get_params(failobj=[]) if held.lower() == name]
    return next((each for each in found if isinstance(each, tuple)), found[0] if found else None)


def _cut(body: bytes, boundary: bytes, most: int) -> Iterator[bytes]:
    """Between the boundary lines; without the closing one, to the end."""
    line = re.compile(rb"(?:^|\r?\n)--" + re.escape(boundary) + rb"(--)?[ \t]*(?=\r?\n|$)")
    start, found = -1, 0
    for mark in line.finditer(body):
        if start >= 0:
            yield body[start : mark.start()]
            found += 1
        start = min(len(body), mark.end() + (2 if body.startswith(b"\r\n", mark.end()) else 1))
        if mark[1] or found >= most:
            return
    if start >= 0:
        yield body[start:]
