"""An item's own files in its text: a picture or a link that names one of them, by the last part of its address."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from urllib.parse import unquote

from markdown_it.token import Token

from schemas.content import Attachment
from shared import attachments
from shared.markup.headings import flat
from shared.markup.parser import parse

SIZES = "(max-width: 46rem) 94vw, 42rem"
"""How wide a picture stands in a text, on a phone and beside its contents."""
_SCHEME = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:|//|#)")


class Files:
    """Of one item."""

    def __init__(self, files: Sequence[Attachment]) -> None:
        self._all = files
        self._by_name = {each.name: each for each in files}

    def find(self, source: str) -> Attachment | None:
        """The file that a relative address names; `img/lock.png` names `lock.png`."""
        if not self._by_name or _SCHEME.match(source):
            return None
        return self._by_name.get(last_part(source))

    def picture(self, source: str, alt: str) -> str:
        """An img of one of these files with its smaller editions, or nothing."""
        found = self.find(source)
        if found is None or not attachments.is_picture(found) or attachments.variant_of(found.name):
            return ""
        smaller = [f"{attachments.address(each)} {each.width}w" for each in attachments.editions(found.name, self._all)]
        several = (
            f' srcset="{escape(", ".join([*smaller, f"{attachments.address(found)} {found.width}w"]))}" sizes="{SIZES}"'
            if smaller
            else ""
        )
        return (
            f'<img src="{escape(attachments.address(found))}"{several} alt="{escape(alt or found.alt)}" width="{found.width}"'
            f' height="{found.height}" loading="lazy">'
        )


def last_part(source: str) -> str:
    """Without folders, query and fragment; what is coded in the address is read."""
    return unquote(source.partition("#")[0].partition("?")[0]).replace("\\", "/").rsplit("/", 1)[-1]


def named_in(body: str) -> list[str]:
    """Addresses of a Markdown text that may be files beside it: pictures and links without a scheme, in order, each once."""
    tokens = parse(body)
    found = [source for source, _ in sources(tokens)] + list(_links(tokens))
    return [
        each
        for each in dict.fromkeys(map(unquote, found))
        if ":" not in each and attachments.media_type(each) is not None
    ]


def sources(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """(address, what it shows) of each picture."""
    for token in tokens:
        if token.type == "image":
            yield str(token.attrGet("src") or ""), flat(token.children)
        yield from sources(token.children or ())


def _links(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "link_open":
            yield str(token.attrGet("href") or "")
        yield from _links(token.children or ())
