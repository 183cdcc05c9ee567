"""What an agent wrote, as HTML for the page of a conversation: Markdown that brings nothing of its own into the page (S11).

Stricter than an item's page: HTML in it is shown as text, nothing has an id, headings are bold lines (the page has its own), pictures are
links, and a link to the web says where it leads. Nothing is loaded from anywhere.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from urllib.parse import urlsplit

from markdown_it.token import Token

from shared.markup.clean import clean
from shared.markup.links import resolve
from shared.markup.parser import parse
from shared.markup.regions import dress
from shared.markup.writer import Writer

MOST = 64 * 1024
"""Characters that are read as Markdown; a longer text is shown as it is written."""
MOST_BRACKETS = 2000
"""Links that may begin in it: looking for their ends takes time that grows with the square of them."""
_IN_PAGE = re.compile(r'<a [^>]*?href="#[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
_ID = re.compile(r'(<[a-z0-9]+)((?: [a-z-]+="[^"]*")*?) id="[^"]*"')
_OUTWARD = re.compile(r'(<a rel="[^"]*" href="(https?://[^"]*)"[^>]*>)(.*?)</a>', re.DOTALL)
_REGION = re.compile(r'role="region" aria-label="([^"]*)"')


def render_reply(text: str, name: str = "", lang: str = "en") -> str:
    """Safe HTML of a reply. `name` tells what can be scrolled in it from the same of another: "message 4"."""
    if len(text) > MOST or text.count("[") > MOST_BRACKETS:
        return plain(text)
    tokens = list(_calm(parse(text.replace("\r\n", "\n"))))
    html = dress(clean(Writer("", set()).write(tokens, lang)), lang)
    html = _OUTWARD.sub(_says_where, resolve(_ID.sub(r"\1\2", _IN_PAGE.sub(r"\1", html)), lambda _: None))
    if name:
        html = _REGION.sub(lambda found: f'role="region" aria-label="{found[1]}, {escape(name)}"', html)
    return html


def plain(text: str) -> str:
    """Text as it is written, with its line breaks."""
    return f'<p class="plain">{escape(text, quote=False)}</p>'


def _calm(tokens: Sequence[Token]) -> Iterator[Token]:
    """Headings become bold paragraphs, HTML becomes text."""
    heading = False
    for token in tokens:
        if token.type == "html_block":
            yield from _paragraph(token.content.strip("\n"))
            continue
        if token.type in ("heading_open", "heading_close"):
            heading = token.nesting > 0
            token.type, token.tag = token.type.replace("heading", "paragraph"), "p"
        elif token.type == "inline":
            children = [_texted(child) for child in token.children or ()]
            token.children = [Token("strong_open", "strong", 1), *children, Token("strong_close", "strong", -1)] if heading else children  # fmt: skip
        yield token


def _texted(token: Token) -> Token:
    return Token("text", "", 0, content=token.content) if token.type == "html_inline" else token


def _paragraph(text: str) -> tuple[Token, ...]:
    inline = Token("inline", "", 0, content=text, children=[Token("text", "", 0, content=text)])
    return (Token("paragraph_open", "p", 1, block=True), inline, Token("paragraph_close", "p", -1, block=True))


def _says_where(found: re.Match[str]) -> str:
    host = urlsplit(found[2]).netloc.rpartition("@")[2]
    shown = "" if found[3].rstrip("/") == found[2].rstrip("/") else f' <small class="mute">({escape(host)})</small>'
    return f"{found[1]}{found[3]}</a>{shown}"
