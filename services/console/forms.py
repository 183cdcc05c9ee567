"""Reading what browsers send: limits before parsing, text fields and small text files."""

from dataclasses import dataclass, field
from typing import Any
from unicodedata import normalize
from uuid import UUID

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from schemas.text import text_fault
from services.console.queue.domain import LIMIT
from shared.errors import NotFound, Refused, TooLarge

MAX_BODY = 8 * 1024 * 1024
MAX_PART = 4 * 1024 * 1024
MAX_FIELDS = 3000
LONGEST_MARK = 64
MAX_FILES = 24
ATTACHED = "attachments"
ROOMY = frozenset({"/submit"})
ROOM = 48 * 1024 * 1024
"""Bytes of a body with pictures as cameras make them; they are made smaller here."""
SECRET = "secret."  # noqa: S105 - the beginning of a name
"""What the names of fields with a secret's value begin with: no page repeats one, whatever went wrong."""


@dataclass(frozen=True)
class Form:
    """The fields of a posted form: (name, text) in order. A text file counts as a field with its content; `files`: (name, bytes) of the field `attachments`. What was typed has no repr."""

    fields: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    files: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)

    def text(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.fields if key == name), default)

    def every(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name]

    def mark(self, name: str) -> str:
        """What a page of ours calls something by, such as a hash; empty for what none of them would send."""
        value = self.text(name)
        return value if value.isascii() and value.isprintable() and len(value) <= LONGEST_MARK else ""

    def whole(self, name: str) -> int | None:
        return whole(self.text(name))


def whole(value: str) -> int | None:
    """A number of at most nine digits, so that it fits every column."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None


async def read_form(request: Request) -> Form:
    """TooLarge above 8 MiB (an item's own limit is checked later and named there); Refused for what is no form."""
    check_length(request.headers.get("content-length"), ROOM if request.url.path in ROOMY else MAX_BODY)
    try:
        async with request.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=MAX_PART) as data:
            return Form(tuple(await _fields(data)), tuple(await _attachments(data)))
    except MultiPartException as error:
        raise Refused(f"The form could not be read: {error.message}", code="form") from None
    except ClientDisconnect:
        raise Refused("The request ended before its form did.", code="form") from None


def check_length(declared: str | None, most: int = MAX_BODY) -> None:
    if declared is None or not declared.isdigit():
        raise Refused("A request with a body needs a Content-Length.", code="length")
    if int(declared) > most:
        raise TooLarge(f"A request has at most {most // 1024 // 1024} MiB, and an item at most {LIMIT}.")


async def _fields(data: FormData) -> list[tuple[str, str]]:
    found = []
    for name, value in data.multi_items():
        if isinstance(value, UploadFile):
            if value.filename and name != ATTACHED:
                found += [(name, await _file_text(value)), (f"{name}_name", value.filename)]
        else:
            found.append((name, value))
    return found


async def _attachments(data: FormData) -> list[tuple[str, bytes]]:
    """Names as the browser says them, without folders, composed (rule 14)."""
    found = []
    for value in data.getlist(ATTACHED):
        if isinstance(value, UploadFile) and value.filename:
            name = normalize("NFC", value.filename.replace("\\", "/").rsplit("/", 1)[-1])
            found.append((name, await value.read()))
    return found


async def _file_text(upload: UploadFile) -> str:
    try:
        return (await upload.read()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(
            f"The file is not UTF-8 text (byte {error.start}); save it as UTF-8 and send it again.", code="encoding"
        ) from None


def as_uuid(value: Any) -> UUID:
    """NotFound for what is no id: it answers like one that does not exist (rule 24)."""
    try:
        return UUID(str(value))
    except ValueError:
        raise NotFound("There is no such thing.") from None


def query(request: Request, name: str, longest: int = 500) -> str:
    value = request.query_params.get(name, "")
    if len(value) > longest or text_fault(value):
        raise Refused(f"{name} has at most {longest} characters; this one has {len(value)}.", code="query")
    return value


def page_number(request: Request) -> int:
    value = request.query_params.get("page", "1")
    return min(max(int(value), 1), 100_000) if value.isascii() and value.isdigit() and len(value) < 7 else 1
