"""Files out of a request, piece by piece: its body as it is, or the fields of a form with files in it. Nothing stands in memory as a whole."""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from schemas.text import text_fault
from shared.errors import Refused

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

LONGEST_FIELD, MOST_PARTS = 8 * 1024, 200


async def body_of(request: Request) -> AsyncIterator[bytes]:
    """Refused (code `cut_off`) when whoever sends it goes before the end."""
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect:
        raise Refused("The file broke off on its way; nothing of it was kept.", code="cut_off") from None


def length_of(request: Request) -> int:
    """Bytes that the body is said to have; 0 when nobody says."""
    said = request.headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 16 else 0


@dataclass
class _Part:
    name: str = ""
    file_name: str | None = None
    headers: dict[bytes, bytes] = field(default_factory=dict)


class Form:
    """A form of `multipart/form-data` as it comes in. Small fields that stand before the first file are in `fields` once `files` has begun."""

    def __init__(self, request: Request) -> None:
        kind, options = parse_options_header(request.headers.get("content-type", ""))
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise Refused("Send this as a form with a file.", code="bad_form")
        self.fields: dict[str, str] = {}
        self._body, self._waiting = body_of(request), deque[_Part | bytes | None]()
        self._parser = MultipartParser(options[b"boundary"], self._heard())
        self._part, self._header, self._ended = _Part(), [b"", b""], False

    async def files(self) -> AsyncIterator[tuple[str, AsyncIterator[bytes]]]:
        """(name, content) of each file; its content must be read before the next."""
        parts = 0
        while (each := await self._next()) is not _END:
            if not isinstance(each, _Part):
                continue
            parts += 1
            if parts > MOST_PARTS:
                raise Refused(f"A form has at most {MOST_PARTS} fields and files.", code="bad_form")
            if each.file_name is None:
                self.fields[each.name] = await self._text()
            elif each.file_name:  # a field without a chosen file comes with an empty name
                yield each.file_name, self._content()

    async def _text(self) -> str:
        raw = b""
        async for piece in self._content():
            raw += piece
            if len(raw) > LONGEST_FIELD:
                raise Refused("A field of this form is too long.", code="bad_form")
        return _checked(raw)

    async def _content(self) -> AsyncIterator[bytes]:
        while (each := await self._next()) is not None:
            if not isinstance(each, bytes):
                raise Refused("The form broke off; nothing of this file was kept.", code="cut_off")
            yield each

    async def _next(self) -> "_Part | bytes | _End | None":
        """A part begins, a piece of it, its end (None), or the end of all."""
        while not self._waiting:
            if self._ended:
                return _END
            piece = await anext(self._body, b"")
            if not piece:
                self._ended = True
            try:
                self._parser.write(piece) if piece else self._parser.finalize()
            except MultipartParseError:
                raise Refused("This form cannot be read, or it broke off.", code="bad_form") from None
        return self._waiting.popleft()

    def _heard(self) -> "MultipartCallbacks":
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda raw, start, end: self._add(0, raw[start:end]),
            "on_header_value": lambda raw, start, end: self._add(1, raw[start:end]),
            "on_header_end": self._keep,
            "on_headers_finished": self._named,
            "on_part_data": lambda raw, start, end: self._waiting.append(bytes(raw[start:end])),
            "on_part_end": lambda: self._waiting.append(None),
        }

    def _begin(self) -> None:
        self._part = _Part()

    def _add(self, at: int, piece: bytes) -> None:
        self._header[at] += piece

    def _keep(self) -> None:
        self._part.headers[self._header[0].lower()] = self._header[1]
        self._header = [b"", b""]

    def _named(self) -> None:
        _, options = parse_options_header(self._part.headers.get(b"content-disposition", b""))
        self._part.name = _checked(options.get(b"name", b""))
        if b"filename" in options:  # browsers write a quotation mark as %22
            self._part.file_name = _checked(options[b"filename"].replace(b"%22", b'"'))
        self._waiting.append(self._part)


class _End:
    """No more of the form."""


_END = _End()


def _checked(raw: bytes) -> str:
    """Rule 19: refused, not mended."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise Refused("the text is not valid UTF-8", code="bad_text") from None
    if fault := text_fault(text):
        raise Refused(fault, code="bad_text")
    return text
