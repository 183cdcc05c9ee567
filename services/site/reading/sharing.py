"""What an item's page says of itself to others: files under the text, and the card that other sites show of it (Open Graph)."""

import re
from dataclasses import dataclass
from urllib.parse import quote

from schemas.content import Attachment
from services.site.publication.domain import Published
from shared.attachments import address, editions, is_picture, variant_of

_FILE = re.compile(r"/a/[0-9a-f]{64}/")
CARD_WIDTH = 1200
"""Pixels that a card's picture has at most, where there is a smaller edition."""


@dataclass(frozen=True)
class Card:
    """`image`: an address without its host, or empty."""

    description: str
    image: str = ""
    alt: str = ""
    width: int | None = None
    height: int | None = None


def card_of(item: Published, summary: str) -> Card:
    description = item.summary or summary
    picture = next((each for each in item.attachments if is_picture(each) and not variant_of(each.name)), None)
    if picture is None:
        return Card(description)
    fit = [each for each in editions(picture.name, item.attachments) if (each.width or 0) <= CARD_WIDTH]
    shown = fit[-1] if fit and (picture.width or 0) > CARD_WIDTH else picture
    return Card(description, address(shown), picture.alt, shown.width, shown.height)


def files_under(item: Published, html: str) -> list[Attachment]:
    """What is listed under the text: everything but the pictures that stand in it, and their smaller editions."""
    return [
        each
        for each in item.attachments
        if not variant_of(each.name) and not (is_picture(each) and address(each) in html)
    ]


def by_link(html: str, token: str) -> str:
    """The same page for whoever holds a share link: its files are reached by the link, too."""
    return _FILE.sub(lambda found: f"/l/{quote(token)}{found[0]}", html)
