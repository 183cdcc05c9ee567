"""Files that belong to an item: which kinds there are, what they may be called, and whether bytes are what they say (rule 5, S13).

Pure, without a decoder: the lock and the site use this, too. Pictures are looked at in `shared.pictures`.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from urllib.parse import quote

from schemas.content import Attachment
from schemas.model import MAX_ATTACHMENT, MAX_ATTACHMENTS

LIMIT = f"{MAX_ATTACHMENT // 1024} KiB"
TEXTS = {"txt": "text/plain", "csv": "text/csv", "md": "text/markdown", "json": "application/json"}
PICTURES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp", "gif": "image/gif"}
OFFICE = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
TYPES = TEXTS | PICTURES | OFFICE | {"pdf": "application/pdf"}
"""By the ending of the name. What a browser would run (HTML, SVG, scripts) is none of them."""
_VARIANT = re.compile(r"^(?P<stem>.+)\.(?P<width>[1-9][0-9]{1,4})w\.[a-z]+$")


def media_type(name: str) -> str | None:
    """What a file of this name must be; None when it cannot be an attachment."""
    return TYPES.get(PurePath(name).suffix.lower().removeprefix("."))


def _unseen(name: str) -> bool:
    return any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for char in name)


def fault_of_name(name: str) -> str:
    """Why an attachment cannot be called so, or nothing."""
    if media_type(name) is None:
        return f"{name[:80]!r} is no kind of attachment; there are {', '.join(sorted(TYPES))}"
    if name.startswith(".") or unicodedata.normalize("NFC", name) != name or _unseen(name) or "%" in name or "?" in name or "#" in name:  # fmt: skip
        return f"the name {name[:80]!r} begins with a dot, is not in NFC, or has % ? # or characters that nobody sees"
    return "" if len(name.encode()) <= 200 else f"the name {name[:60]!r}… has more than 200 bytes"


def check_names(attachments: Sequence[Attachment]) -> str:
    """Why this list cannot be, or nothing: names that are no names, that stand there twice, or that say another type."""
    seen = set[str]()
    for each in attachments:
        fault = fault_of_name(each.name)
        if fault:
            return fault
        if each.media_type != media_type(each.name):
            return f"the attachment {each.name!r} says that it is {each.media_type}, and its name says {media_type(each.name)}"
        if each.name.casefold() in seen:
            return f"two attachments are called {each.name!r}"
        seen.add(each.name.casefold())
    return "" if len(attachments) <= MAX_ATTACHMENTS else f"an item has at most {MAX_ATTACHMENTS} attachments"


def variant_of(name: str) -> tuple[str, int] | None:
    """(stem, width in pixels) of a smaller edition of a picture: `lock.640w.webp` is one of `lock.webp` or `lock.png`."""
    found = _VARIANT.match(name)
    return (found["stem"], int(found["width"])) if found else None


def editions(picture: str, attachments: Iterable[Attachment]) -> list[Attachment]:
    """The smaller editions of a picture, narrowest first."""
    stem = picture.rpartition(".")[0]
    found = [each for each in attachments if (named := variant_of(each.name)) and named[0] == stem]
    return sorted(found, key=lambda each: each.width or 0)


def is_picture(attachment: Attachment) -> bool:
    return attachment.media_type in PICTURES.values()


def address(attachment: Attachment) -> str:
    """Where the site serves it."""
    return f"/a/{attachment.hash}/{quote(attachment.name)}"


def human_size(size: int) -> str:
    """`12 KiB`."""
    return f"{size} bytes" if size < 1024 else f"{size / 1024:.0f} KiB"
