"""What a comment is. Pure; the lock checks all of it once more."""

import unicodedata
from uuid import UUID, uuid5

from schemas.content import ItemContent
from shared.errors import Refused, TooLarge
from shared.markup import invisible

LONGEST = 4000
LONGEST_NAME = 80
PER_PAGE = 20
"""Comments on one page of an item."""


def make_comment(about: UUID, name: str, text: str) -> ItemContent:
    """The content of a comment. Refused or TooLarge says what is wrong with it."""
    clean = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not clean:
        raise Refused("the comment is empty", code="empty")
    if len(clean) > LONGEST:
        raise TooLarge(f"the comment has {len(clean)} characters; at most {LONGEST} are taken")
    title = " ".join(unicodedata.normalize("NFC", name).split())
    if len(title) > LONGEST_NAME or invisible(title):
        raise Refused(f"a name has at most {LONGEST_NAME} characters, all of them visible", code="name")
    return ItemContent(title=title, body=clean, about=about)


def place_of(about: UUID, visitor: str, content: ItemContent) -> str:
    """The comment's path. The same words of the same visitor about the same item are one comment, however often they were sent."""
    said = f"{visitor} {content.title}\n{content.body}"
    return f"{about}/{uuid5(about, said.encode().hex()).hex}"
