"""Which headers cross: never those of one connection, never credentials of the asker, never what tells others about us."""

import re
from collections.abc import Iterable

from shared.errors import Permanent, Refused

Headers = tuple[tuple[str, str], ...]
LARGEST = 64 * 1024
"""Bytes of all headers, of a request or an answer."""
OF_ONE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
        "http2-settings",
    }
)
CREDENTIALS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key", "x-auth-token"}
)
"""An asker holds no credential; what its library sends in their place is a dummy."""
OURS = frozenset(
    {
        "traceparent",
        "tracestate",
        "baggage",
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
        "via",
    }
)
INSTEAD = frozenset(
    {
        "x-http-method-override",
        "x-http-method",
        "x-method-override",
        "x-original-method",
        "x-original-url",
        "x-rewrite-url",
        "x-original-host",
        "x-host",
    }
)
"""They make many servers do something else than the request line says, which is what was allowed and written down."""
NOT_OUT = OF_ONE_CONNECTION | CREDENTIALS | OURS | {"host", "accept-encoding", "content-length"}
NOT_BACK = OF_ONE_CONNECTION | {"set-cookie", "set-cookie2", "proxy-authenticate", "alt-svc"}
"""A cookie is a credential; and nobody but us decides by which way an asker goes."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]{1,200}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def outward(given: Iterable[tuple[str, str]], also_not: Iterable[str] = ()) -> Headers:
    """The asker's headers as they may leave. Refused (code `headers`) when one is not well-formed, or all are too large."""
    shut = NOT_OUT | {name.lower() for name in also_not}
    found = tuple((name.lower(), value) for name, value in given)
    for name, value in found:
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise Refused(
                "a header's name or value is not well-formed; line breaks and control characters are not",
                code="headers",
            )
    if named := [name for name, _ in found if name in INSTEAD]:
        raise Refused(f"{named[0]} asks for something else than the request does; ask for that itself", code="headers")
    if _size(found) > LARGEST:
        raise Refused(f"all headers together have at most {LARGEST} bytes", code="headers")
    return tuple((name, value) for name, value in found if name not in shut)


def inward(given: Iterable[tuple[str, str]], host: str) -> Headers:
    """The other side's headers as the asker gets them. Permanent (code `answer_headers`) when they are too large."""
    found = tuple((name.lower(), value) for name, value in given)
    if _size(found) > LARGEST:
        raise Permanent(f"the headers of {host}'s answer are larger than {LARGEST} bytes", code="answer_headers")
    return tuple((name, value) for name, value in found if name not in NOT_BACK)


def _size(headers: Headers) -> int:
    return sum(len(name) + len(value) for name, value in headers)
