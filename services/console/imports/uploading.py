"""Reading a posted file as its bytes, where it is larger than forms are."""

from dataclasses import dataclass, field

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from services.console.forms import Form
from services.console.imports.domain import MOST_BYTES
from shared.errors import Refused, TooLarge

AROUND = 1024 * 1024
"""Bytes that the form around a file may have."""


@dataclass(frozen=True)
class Upload(Form):
    """A form with at most one file. `raw` is None when there was none."""

    file_name: str = ""
    raw: bytes | None = field(default=None, repr=False)


async def read_upload(request: Request) -> Form:
    """TooLarge above 64 MiB; Refused for what is no form."""
    declared = request.headers.get("content-length") or ""
    if not declared.isdigit():
        raise Refused("A request with a body needs a Content-Length.", code="length")
    if int(declared) > MOST_BYTES + AROUND:
        raise TooLarge(f"A file has at most {MOST_BYTES // 1024 // 1024} MiB; send it in parts.")
    try:
        async with request.form(max_files=1, max_fields=50) as data:
            sent = next((each for each in data.values() if isinstance(each, UploadFile) and each.filename), None)
            fields = tuple((name, value) for name, value in data.multi_items() if isinstance(value, str))
            return Upload(
                fields, file_name=(sent.filename or "") if sent else "", raw=await sent.read() if sent else None
            )
    except MultiPartException as error:
        raise Refused(f"The form could not be read: {error.message}", code="form") from None
    except ClientDisconnect:
        raise Refused("The request ended before its form did.", code="form") from None
