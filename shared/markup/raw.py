"""Raw HTML in a source: a few harmless tags are rebuilt, all others become nothing, their text stays.

This is what gives authors `<kbd>` and `<details>`; the guarantee is nh3's, which sees the whole page afterwards. Every
search here is bounded, so that hostile text costs time in proportion to its length only.
"""

import html
import re
from collections.abc import Callable

WINDOW = 4_096
"""Longest tag that is understood; a longer one is shown as text."""
DEEPEST = 32
MOST_WASTED = 4_000_000
"""Characters searched in vain for the end of a tag; past it the rest of the page's raw HTML is shown as text."""
_INLINE = frozenset(
    [
        "abbr",
        "dfn",
        "kbd",
        "sub",
        "sup",
        "b",
        "i",
        "em",
        "strong",
        "ins",
        "del",
        "s",
        "mark",
        "code",
        "span",
        "small",
        "u",
        "cite",
        "q",
        "samp",
        "var",
        "a",
    ]
)
_BLOCK = frozenset(
    [
        "details",
        "summary",
        "div",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "blockquote",
        "pre",
    ]
)
_VOID = frozenset(("br", "hr", "wbr"))
_ONLY_IN = {
    "li": ("ul", "ol"),
    "dt": ("dl",),
    "dd": ("dl",),
    "summary": ("details",),
    "tr": ("table", "thead", "tbody"),
}
_ONLY_IN |= {"td": ("tr",), "th": ("tr",), "thead": ("table",), "tbody": ("table",)}
_GLUED = frozenset(
    [
        "font",
        "big",
        "tt",
        "bdi",
        "bdo",
        "label",
        "data",
        "time",
        "output",
        "blink",
        "nobr",
        "strike",
        "acronym",
        "ruby",
        "rt",
        "rp",
        "rb",
    ]
)
_SILENT = ("script", "style")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]*+)([^<>\"']*+(?:\"[^\"]*+\"[^<>\"']*+|'[^']*+'[^<>\"']*+)*+)>")
_ATTRIBUTE = re.compile(r"([A-Za-z][A-Za-z0-9:_-]*)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?")
_HEADING = re.compile(r"h[1-6]\Z")
_Attributes = dict[str, str]


class Raw:
    """The author's open tags on one page. Blocks of the Markdown around them are walls that no closing tag passes."""

    def __init__(self, link: Callable[[str], str], image: Callable[[_Attributes], str]) -> None:
        """`link` gives the attributes of an `a` for an address, or "" when it must not be a link; `image` stands for an img."""
        self._link, self._image = link, image
        self._frames: list[list[str]] = [[]]
        self._depth = 0
        self._wasted = 0

    @property
    def in_link(self) -> bool:
        return any("a" in frame for frame in self._frames)

    def enter(self) -> None:
        """A block of the Markdown opens."""
        self._frames.append([])

    def leave(self) -> str:
        """It closes: the closing tags of what the author left open in it."""
        frame = self._frames.pop()
        self._depth -= len(frame)
        return "".join(f"</{name}>" for name in reversed(frame))

    def rewrite(self, source: str) -> str:
        """Raw HTML with its text, as HTML of allowed tags."""
        out: list[str] = []
        lowered = source.lower()
        position = 0
        while (start := source.find("<", position)) >= 0 and self._wasted < MOST_WASTED:
            out.append(_escaped(source[position:start]))
            markup, position = self._markup(source, lowered, start)
            out.append(markup)
        out.append(_escaped(source[position:]))
        return "".join(out)

    def _markup(self, source: str, lowered: str, start: int) -> tuple[str, int]:
        """HTML for what begins with `<` at `start`, and where it ends."""
        if source.startswith("<!--", start):
            return self._until(source, "-->", start)
        if source.startswith(("<!", "<?"), start):
            return self._until(source, ">", start)
        tag = _TAG.match(source, start, start + WINDOW)
        if tag is None:
            self._wasted += min(WINDOW, len(source) - start)
            return "&lt;", start + 1
        name = tag[2].lower()
        if tag[1]:
            return self._close(name), tag.end()
        if name in _SILENT:
            body_end = lowered.find(f"</{name}", tag.end())
            self._wasted += 0 if body_end >= 0 else len(source) - tag.end()
            return "", max(body_end, tag.end())
        return self._start(name, _attributes(tag[3])), tag.end()

    def _until(self, source: str, mark: str, start: int) -> tuple[str, int]:
        end = source.find(mark, start + 2)
        if end >= 0:
            return "", end + len(mark)
        self._wasted += len(source) - start
        return "&lt;", start + 1

    def _start(self, tag: str, attributes: _Attributes) -> str:
        if tag == "img":
            return self._image(attributes)
        if tag in _VOID:
            return f"<{tag}>"
        tag = "p" if _HEADING.match(tag) else tag
        if tag not in _INLINE | _BLOCK or self._depth >= DEEPEST or not self._fits(tag):
            return "" if tag in _INLINE | _GLUED else "\n"
        opening = self._opening(tag, attributes)
        if opening:
            self._frames[-1].append(tag)
            self._depth += 1
        return opening

    def _fits(self, tag: str) -> bool:
        frame = self._frames[-1]
        return tag not in _ONLY_IN or bool(frame and frame[-1] in _ONLY_IN[tag])

    def _opening(self, tag: str, attributes: _Attributes) -> str:
        if tag == "a":
            linked = "" if self.in_link else self._link(attributes.get("href", ""))
            return f"<a {linked}>" if linked else ""
        if tag in ("abbr", "dfn") and attributes.get("title"):
            return f'<{tag} title="{html.escape(attributes["title"])}">'
        if tag == "details" and "open" in attributes:
            return "<details open>"
        return f"<{tag}>"

    def _close(self, tag: str) -> str:
        tag = "p" if _HEADING.match(tag) else tag
        frame = self._frames[-1]
        if tag not in frame:
            return "" if tag in _INLINE | _GLUED else "\n"
        out = []
        while True:
            name = frame.pop()
            self._depth -= 1
            out.append(f"</{name}>")
            if name == tag:
                return "".join(out)


def _escaped(text: str) -> str:
    return html.escape(html.unescape(text), quote=False) if text else ""


def _attributes(text: str) -> _Attributes:
    found: _Attributes = {}
    for each in _ATTRIBUTE.finditer(text):
        found.setdefault(each[1].lower(), html.unescape((each[2] or "").strip("\"'")))
    return found
