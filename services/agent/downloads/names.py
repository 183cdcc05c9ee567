"""What a download is called, and how a header says so (RFC 6266, RFC 8187). No name breaks out of its header, and none pretends."""

import re
import unicodedata
from urllib.parse import quote

from shared.markup import invisible

NAMELESS = "download"
LONGEST = 255
"""Bytes."""
_SAFE = re.compile(r"[^A-Za-z0-9 !#$&+.^_`|~@(),=\[\]{}'-]")
_ATTR = "!#$&+-.^_`|~"
"""What RFC 8187 leaves as it is, beside letters and digits."""
TYPES = {
    "pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "txt": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8", "csv": "text/csv; charset=utf-8", "json": "application/json",
    "zip": "application/zip", "mp3": "audio/mpeg", "mp4": "video/mp4",
}  # fmt: skip
"""Kinds that run nothing. All else is just bytes."""


def shown(name: str) -> str:
    """The name that people see: NFC, one line, without direction marks and other invisible characters, no folder in it, at most 255 bytes."""
    text = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode())
    hidden = {char for char in text if not char.isprintable() or unicodedata.category(char).startswith("C")}
    hidden |= {char for char in text if invisible(char)}
    text = "".join(
        "_" if char in "/\\" else " " if char in "\r\n\t" else "" if char in hidden else char for char in text
    )
    text = " ".join(text.split())
    return _cut(text) if text.strip(". ") else NAMELESS


def disposition(name: str) -> str:
    """`attachment` with a plain fallback and the whole name, in ASCII."""
    clean = shown(name)
    return f"attachment; filename=\"{_fallback(clean)}\"; filename*=UTF-8''{quote(clean, safe=_ATTR)}"


def kind(name: str) -> str:
    """A media type that nothing is run from."""
    return TYPES.get(name.rpartition(".")[2].lower(), "application/octet-stream")


def _fallback(name: str) -> str:
    """For programs that know no other: letters without their marks, `_` for what has no plain form."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    found = _SAFE.sub("_", bare).strip(". ")
    return found if found.strip("_. ") else NAMELESS + _ending(found)


def _ending(name: str) -> str:
    _, dot, ending = name.rpartition(".")
    return f".{ending}" if dot and ending.strip("_") else ""


def _cut(text: str) -> str:
    """At most 255 bytes of whole characters; the ending stays."""
    stem, dot, ending = text.rpartition(".")
    tail = f"{dot}{ending}" if stem and len(ending.encode()) <= 20 else ""
    head = text[: len(text) - len(tail)]
    return head.encode()[: LONGEST - len(tail.encode())].decode("utf-8", "ignore") + tail
