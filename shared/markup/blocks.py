"""Block rules of our own: admonitions in three spellings, include lines, task items, and a floor to nesting."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

KINDS = {
    **{name: name for name in ("note", "info", "tip", "check", "warning", "danger", "details", "tab")},
    **{"important": "info", "abstract": "info", "example": "info", "question": "info", "quote": "info"},
    **{"hint": "tip", "success": "check", "done": "check", "attention": "warning", "caution": "warning"},
    **{"error": "danger", "failure": "danger", "bug": "danger"},
}
"""Names that authors use, and the kind that each is shown as."""
_SLASHES = re.compile(r"(/{3,})[ \t]*([A-Za-z]+)[ \t]*(?:\|(.*))?\Z")
_BANGS = re.compile(r"(!!!|\?\?\?\+?)[ \t]+([A-Za-z]+)[ \t]*(?:\"(.*)\")?[ \t]*\Z")
_ALERT = re.compile(r"\[!([A-Za-z]+)\][ \t]*(?:\n|\Z)")
_TASK = re.compile(r"\[([ xX])\] ")
_OPTION = re.compile(r"[ \t]+[a-z]+: \S.*\Z")


def install(markdown: MarkdownIt, max_nesting: int) -> None:
    """Add the rules; `max_nesting` is the level at which the library would drop what lies deeper."""
    stops = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    ruler = markdown.block.ruler
    ruler.before("table", "floor", _floor(max_nesting - 8))
    ruler.before("fence", "slashes", slashes, stops)  # type: ignore[arg-type]
    ruler.before("fence", "bangs", bangs, stops)  # type: ignore[arg-type]
    ruler.before("fence", "include", include, stops)  # type: ignore[arg-type]


def _floor(deepest: int):  # type: ignore[no-untyped-def]
    def floor(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        if silent or state.level < deepest:
            return False
        _paragraph(state, state.getLines(start, end, state.blkIndent, False).strip(), "inline")
        state.line = end
        return True

    return floor


def _paragraph(state: StateBlock, content: str, kind: str) -> None:
    state.push("paragraph_open", "p", 1)
    token = state.push("inline", "", 0)
    token.content = content if kind == "inline" else ""
    token.children = []
    if kind == "code":
        token.children.append(Token("code_inline", "code", 0, content=content))
    state.push("paragraph_close", "p", -1)


def _starts(state: StateBlock, line: int, chars: tuple[str, ...]) -> bool:
    return state.src.startswith(chars, state.bMarks[line] + state.tShift[line]) and not state.is_code_block(line)


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _open(state: StateBlock, name: str, title: str | None, start: int, end: int) -> None:
    token = state.push("admonition_open", "div", 1)
    token.map = [start, end]
    token.meta = {"kind": KINDS[name.lower()], "closed": False}
    if title:
        token.meta["titled"] = True
        state.push("admonition_title_open", "p", 1)
        inline = state.push("inline", "", 0)
        inline.content, inline.children, inline.map = title, [], [start, start + 1]
        state.push("admonition_title_close", "p", -1)


def _fill(state: StateBlock, start: int, end: int, indent: int) -> None:
    kept = state.lineMax, state.parentType, state.blkIndent
    state.lineMax, state.parentType, state.blkIndent = end, "admonition", state.blkIndent + indent
    state.md.block.tokenize(state, start, end)
    state.lineMax, state.parentType, state.blkIndent = kept
    state.push("admonition_close", "div", -1)


def slashes(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`/// note | Title` … `///`; a block inside a block has fewer slashes. Left open, it ends where its parent ends."""
    if not _starts(state, start, ("/",)):
        return False
    opening = _SLASHES.match(_text(state, start))
    if not opening or opening[2].lower() not in KINDS:
        return False
    if silent:
        return True
    first = start + 1
    while first < end and _OPTION.match(state.src[state.bMarks[first] : state.eMarks[first]]):
        first += 1
    close = _closing(state, first, end, opening[1])
    _open(state, opening[2], (opening[3] or "").strip(), start, close)
    _fill(state, first, close, 0)
    state.line = close + 1 if close < end and _text(state, close) == opening[1] else max(close, start + 1)
    return True


def _closing(state: StateBlock, first: int, end: int, marker: str) -> int:
    """The line of the closing slashes outside code fences, or where the parent block ends."""
    fence = ""
    for line in range(first, end):
        text = _text(state, line)
        if text and state.sCount[line] < state.blkIndent:
            return line
        if fence:
            if text.startswith(fence) and not text.strip(fence[0]):
                fence = ""
        elif text.startswith(("```", "~~~")):
            fence = text[: len(text) - len(text.lstrip(text[0]))]
        elif text == marker:
            return line
    return end


def bangs(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`!!! note "Title"` (or `???`, folded) with its content indented by four spaces."""
    if not _starts(state, start, ("!", "?")):
        return False
    opening = _BANGS.match(_text(state, start))
    if not opening or opening[2].lower() not in KINDS:
        return False
    if silent:
        return True
    stop = last = start + 1
    while stop < end and (state.isEmpty(stop) or state.sCount[stop] >= state.blkIndent + 4):
        stop += 1
        last = last if state.isEmpty(stop - 1) else stop
    _open(state, opening[2], opening[3], start, last)
    state.tokens[-1 if not opening[3] else -4].meta["folded"] = opening[1].startswith("?")
    _fill(state, start + 1, last, 4)
    state.line = last
    return True


def include(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`{* ../file.py hl[1] *}` stays visible, as code: files outside the document are never read."""
    if not _starts(state, start, ("{",)):
        return False
    text = _text(state, start)
    if not (text.startswith("{*") and text.endswith("*}")):
        return False
    if not silent:
        _paragraph(state, text, "code")
        state.line = start + 1
    return True


def alerts(state: StateCore) -> None:
    """Core rule: a quote that begins with `[!NOTE]` is an admonition."""
    is_alert: list[bool] = []
    for at, token in enumerate(state.tokens):
        if token.type == "blockquote_open":
            is_alert.append(_alert(token, state.tokens[at + 2] if at + 2 < len(state.tokens) else token))
        elif token.type == "blockquote_close" and is_alert.pop():
            token.type = "admonition_close"


def _alert(opening: Token, inline: Token) -> bool:
    found = _ALERT.match(inline.content) if inline.type == "inline" else None
    if found is None or found[1].lower() not in KINDS:
        return False
    inline.content = inline.content[found.end() :]
    opening.type, opening.tag, opening.meta = "admonition_open", "div", {"kind": KINDS[found[1].lower()]}
    return True


def tasks(state: StateCore) -> None:
    """Core rule: `- [ ] item` shows a box as a sign; nothing on a published page can be ticked."""
    for at, token in enumerate(state.tokens[:-2]):
        inline = state.tokens[at + 2]
        if token.type == "list_item_open" and inline.type == "inline" and inline.children:
            first = inline.children[0]
            found = _TASK.match(first.content) if first.type == "text" else None
            if found:
                first.content = ("☐ " if found[1] == " " else "☑ ") + first.content[found.end() :]
