"""Headings: title, order, ids, table of contents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from shared.markup.links import HEADING_ID

_ANCHOR = re.compile(r"[ \t]*\{[ \t]*#([\w.:-]{1,100})[ \t]*\}[ \t]*\Z")
_NOT_IN_ID = re.compile(r"[^\w]+")
LONGEST_ID = 80


@dataclass
class Outline:
    """What the headings of one page come to. `toc` entries are (level, id, text), level 2 to 6."""

    title: str | None = None
    toc: list[tuple[int, str, str]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    repeats: dict[str, int] = field(default_factory=dict)


def read_anchors(state: StateCore) -> None:
    """Core rule: take `{ #anchor }` off the end of a heading before its text is parsed."""
    for opening, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if opening.type == "heading_open" and inline.type == "inline":
            anchor = _ANCHOR.search(inline.content)
            if anchor:
                opening.meta["anchor"] = anchor[1]
                inline.content = inline.content[: anchor.start()]


def flat(children: Sequence[Token] | None) -> str:
    """The visible text of inline tokens, with single spaces."""
    parts = []
    for token in children or ():
        if token.type == "image":
            parts.append(flat(token.children))
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
    return " ".join("".join(parts).split())


def title_of(tokens: Sequence[Token]) -> str | None:
    """The text of the first top-level h1; None when there is none or it is empty."""
    at = _title_at(tokens)
    return None if at is None else flat(tokens[at + 1].children) or None


def _title_at(tokens: Sequence[Token]) -> int | None:
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1" and token.level == 0:
            return at
    return None


def outline(tokens: list[Token], shown_title: str | None) -> Outline:
    """Bring the headings into order, in place: the title's h1 goes, the rest starts at h2 and skips no level.

    `shown_title` is what the page prints as its heading; a first h1 with another text stays, as h2.
    """
    found = Outline(title=title_of(tokens))
    if found.title is not None and shown_title in (None, found.title):
        at = _title_at(tokens)
        assert at is not None
        del tokens[at : at + 3]
    open_levels: list[int] = []
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            _place(token, tokens[at + 1], tokens[at + 2], open_levels, found)
    return found


def _place(opening: Token, inline: Token, closing: Token, open_levels: list[int], found: Outline) -> None:
    written = max(2, int(opening.tag[1]))
    while open_levels and open_levels[-1] >= written:
        open_levels.pop()
    open_levels.append(written)
    level = min(6, 1 + len(open_levels))
    opening.tag = closing.tag = f"h{level}"
    text = flat(inline.children)
    name = _unique(HEADING_ID + (opening.meta.get("anchor") or _slug(text)), found)
    opening.meta["id"] = name
    if text:
        found.toc.append((level, name, text))


def _slug(text: str) -> str:
    return _NOT_IN_ID.sub("-", text.lower()).strip("-")[:LONGEST_ID] or "section"


def _unique(wanted: str, found: Outline) -> str:
    name = wanted
    while name in found.ids:
        found.repeats[wanted] = found.repeats.get(wanted, 1) + 1
        name = f"{wanted}-{found.repeats[wanted]}"
    found.ids.add(name)
    return name
