"""Active content: it is harmless on the page, and a sign that somebody tries. Code blocks are text and are not looked at."""

import html
import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from schemas.bridge.v1 import Finding

_ELEMENTS = """script iframe frame frameset object embed applet form input button textarea select style svg math base meta link
template video audio portal"""
_TAG = re.compile(rf"<\s?({'|'.join(_ELEMENTS.split())})(?![\w-])", re.IGNORECASE)
_HANDLER = re.compile(r"[\s\"'/](on[a-z]{2,30})\s{0,9}=", re.IGNORECASE)
_RAW_ADDRESS = re.compile(
    r"[\s\"'/](?:href|src|srcset|action|formaction|data|poster|background|cite)\s{0,9}=\s{0,9}(\"[^\"]{0,2000}\"|'[^']{0,2000}'|[^\s>]{1,2000})",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{0,30}):", re.IGNORECASE)
_NOT_SEEN = dict.fromkeys((*range(0x21), 0x7F, 0xAD, 0x200B, 0x200C, 0x200D, 0xFEFF))
_HARMLESS = ("http", "https", "mailto")


def check(tokens: Sequence[Token]) -> Iterator[Finding]:
    """`check` findings: elements that load or run something, event handlers, and links with other schemes."""
    for line, raw in _raw_html(tokens):
        for at, found in _located(_TAG, raw, line):
            yield _finding("element", f"HTML element <{found[1].lower()}>", at, raw[found.start() : found.start() + 80])
        for at, found in _located(_HANDLER, raw, line):
            yield _finding(
                "handler", f"HTML event handler {found[1].lower()}", at, raw[found.start() + 1 : found.start() + 80]
            )
    for at, address in addresses(tokens):
        scheme = _SCHEME.match(address.translate(_NOT_SEEN))
        if scheme and scheme[1].lower() not in _HARMLESS:
            yield _finding("scheme", f"Link with the scheme {scheme[1].lower()}", at, address)


def _finding(rule: str, message: str, line: int | None, text: str) -> Finding:
    message = f"{message}; it is left out of the page"
    return Finding(
        level="check", rule=f"active.{rule}", message=message, line=line, excerpt=" ".join(text[:60].split())
    )


def _located(pattern: re.Pattern[str], raw: str, line: int | None) -> Iterator[tuple[int | None, re.Match[str]]]:
    """(line, match) of every match in raw HTML that begins on `line`."""
    position = 0
    for found in pattern.finditer(raw):
        line = line and line + raw.count("\n", position, found.start())
        position = found.start()
        yield line, found


def _placed(tokens: Sequence[Token]) -> Iterator[tuple[int | None, Token]]:
    """Every token, inline ones included, with the line that it is on (from 1; None where that is not known)."""
    for token in tokens:
        line = token.map[0] + 1 if token.map else None
        yield line, token
        for child in token.children or ():
            yield line, child
            if child.type in ("softbreak", "hardbreak"):
                line = line and line + 1
            elif child.type == "html_inline":
                line = line and line + child.content.count("\n")


def _raw_html(tokens: Sequence[Token]) -> Iterator[tuple[int | None, str]]:
    for line, token in _placed(tokens):
        if token.type in ("html_inline", "html_block"):
            yield line, token.content


def addresses(tokens: Sequence[Token]) -> Iterator[tuple[int | None, str]]:
    """(line, address) of every link and picture, in Markdown and in raw HTML, with entities decoded."""
    for line, token in _placed(tokens):
        if token.type == "link_open":
            yield line, str(token.attrGet("href") or "")
        elif token.type == "image":
            yield line, str(token.attrGet("src") or "")
    for line, raw in _raw_html(tokens):
        for at, found in _located(_RAW_ADDRESS, raw, line):
            yield at, html.unescape(found[1].strip("\"'"))
