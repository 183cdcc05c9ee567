"""Reading what a browser posts, within limits."""

from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from schemas.text import text_fault
from shared.errors import Refused, TooLarge

MAX_FORM = 64 * 1024
MAX_FIELDS = 20


async def read_body(request: Request, limit: int) -> bytes:
    """The request's body; TooLarge as soon as it passes the limit."""
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise TooLarge(f"the request has more than {limit} bytes")
            parts.append(part)
    except ClientDisconnect:
        raise Refused("the request ended before its body did", code="cut_off") from None
    return b"".join(parts)


async def read_form(request: Request, limit: int = MAX_FORM, fields: int = MAX_FIELDS) -> dict[str, str]:
    """The fields of a form. Text that is no UTF-8, or has NUL or lone surrogates, is refused (rule 19)."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise Refused("send this as a form", code="bad_form")
    raw = await read_body(request, limit)
    try:
        found = dict(parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=fields))
    except ValueError:
        raise Refused("the text is not valid UTF-8", code="bad_text") from None
    for value in found.values():
        fault = text_fault(value)
        if fault:
            raise Refused(fault, code="bad_text")
    return found
