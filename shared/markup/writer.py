"""Tokens to HTML, one small function for each kind of token."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

from markdown_it.token import Token

from schemas.content import Attachment
from shared import attachments
from shared.markup.chart_block import MOST_CHARTS, Chart, placed, read_chart
from shared.markup.code import highlight
from shared.markup.files import Files
from shared.markup.headings import flat
from shared.markup.links import target
from shared.markup.raw import Raw
from shared.markup.words import words_for

_PLAIN = frozenset(
    ["paragraph", "bullet_list", "list_item", "blockquote", "table", "thead", "tbody", "tr", "em", "strong", "s"]
)
MAX_ADDRESSES = 4 * 1024 * 1024
"""Characters of link addresses and titles on one page. A long one defined once can be used a hundred thousand times."""
_FILE_NAME = re.compile(r"([^/?#]+)/?(?:[?#].*)?\Z")


class Writer:
    """Writes one page. `ids` are the ids that in-page links may lead to. `charts`: those whose places are marked in what was written."""

    def __init__(self, base_path: str, ids: set[str], files: Sequence[Attachment] = ()) -> None:
        self._base_path, self._ids = base_path, ids
        self._files = Files(files)
        self.charts: list[Chart] = []
        self._raw = Raw(self._link_attributes, lambda given: self._image(given.get("src", ""), given.get("alt", "")))
        self._links: list[str] = []
        self._addresses = 0
        self._boxes: list[str] = []
        self._words: Mapping[str, str] = words_for("en")
        self._referenced: set[int] = set()
        self._rules: dict[str, Callable[[Token], str]] = {
            name.removeprefix("_on_"): getattr(self, name) for name in dir(self) if name.startswith("_on_")
        }

    def write(self, tokens: Sequence[Token], lang: str) -> str:
        """HTML that still has to be cleaned."""
        self._words = words_for(lang)
        out = []
        for token in tokens:
            if token.nesting > 0:
                out.append(self._one(token))
                self._raw.enter()
            elif token.nesting < 0:
                out.append(self._raw.leave() + self._one(token))
            else:
                out.append(self._one(token))
        return "".join(out)

    def _one(self, token: Token) -> str:
        rule = self._rules.get(token.type)
        return rule(token) if rule else _tag(token)

    def _on_inline(self, token: Token) -> str:
        self._raw.enter()
        out = "".join([self._one(child) for child in token.children or ()])
        return out + self._raw.leave()

    def _on_text(self, token: Token) -> str:
        return escape(token.content, quote=False)

    def _on_text_special(self, token: Token) -> str:
        return escape(token.content, quote=False)

    def _on_softbreak(self, token: Token) -> str:
        return "\n"

    def _on_hardbreak(self, token: Token) -> str:
        return "<br>\n"

    def _on_code_inline(self, token: Token) -> str:
        return f"<code>{escape(token.content, quote=False)}</code>"

    def _on_fence(self, token: Token) -> str:
        chart = read_chart(token.content) if token.info.strip() == "chart" and len(self.charts) < MOST_CHARTS else None
        if chart is not None:
            self.charts.append(chart)
            return placed(chart, len(self.charts) - 1)
        return f"<pre><code>{highlight(token.content, token.info)}</code></pre>\n"

    def _on_code_block(self, token: Token) -> str:
        return f"<pre><code>{escape(token.content, quote=False)}</code></pre>\n"

    def _on_html_inline(self, token: Token) -> str:
        return self._raw.rewrite(token.content)

    def _on_html_block(self, token: Token) -> str:
        return self._raw.rewrite(token.content)

    def _on_heading_open(self, token: Token) -> str:
        return f'<{token.tag} id="{escape(token.meta["id"])}">'

    def _on_ordered_list_open(self, token: Token) -> str:
        start = token.attrGet("start")
        return f'<ol start="{start}">\n' if start is not None else "<ol>\n"

    def _on_th_open(self, token: Token) -> str:
        return f'<th scope="col"{_aligned(token)}>'

    def _on_td_open(self, token: Token) -> str:
        return f"<td{_aligned(token)}>"

    def _on_hr(self, token: Token) -> str:
        return "<hr>\n"

    def _link_attributes(self, address: str) -> str:
        file = self._files.find(address)
        if file is not None:
            return f'href="{escape(attachments.address(file))}"'
        found = target(address, self._base_path, self._ids) if self._affords(address) else None
        return f'href="{escape(found.href)}"' if found else ""

    def _affords(self, text: str) -> bool:
        self._addresses += len(text)
        return self._addresses <= MAX_ADDRESSES

    def _on_link_open(self, token: Token) -> str:
        attributes = "" if self._raw.in_link else self._link_attributes(str(token.attrGet("href") or ""))
        title = token.attrGet("title")
        if attributes and title and self._affords(str(title)):
            attributes += f' title="{escape(str(title))}"'
        self._links.append(attributes)
        return f"<a {attributes}>" if attributes else ""

    def _on_link_close(self, token: Token) -> str:
        return "</a>" if self._links.pop() else ""

    def _on_image(self, token: Token) -> str:
        return self._image(str(token.attrGet("src") or ""), flat(token.children))

    def _image(self, source: str, alt: str) -> str:
        """A picture of the item's own. Nothing is loaded from elsewhere: the alternative text, as a link to the picture when that is on the web."""
        shown = self._files.picture(source, alt)
        if shown and self._affords(shown):
            return shown
        found = target(source, self._base_path) if self._affords(source) else None
        if not found or not found.remote or self._raw.in_link or any(self._links):
            return escape(alt, quote=False)
        name = _FILE_NAME.search(found.href)
        return f'<a href="{escape(found.href)}">{escape(alt or (name[1] if name else found.href), quote=False)}</a>'

    def _on_admonition_open(self, token: Token) -> str:
        kind = token.meta["kind"]
        folded = kind == "details" or token.meta.get("folded", False)
        self._boxes.append("details" if folded else "div")
        tone = {"danger": "warning danger", "details": "info"}.get(kind, kind)
        title = "" if token.meta.get("titled") else self._title(escape(self._words[kind]))
        if folded:
            return f'<details class="admonition stack {tone}">\n{title}'
        if kind == "tab":
            return f'<div class="tab stack">\n{title}'
        return f'<div class="admonition stack {tone}" role="note">\n{title}'

    def _title(self, content: str) -> str:
        tag = "summary" if self._boxes[-1] == "details" else "p"
        return f'<{tag} class="admonition-title">{content}</{tag}>\n'

    def _on_admonition_title_open(self, token: Token) -> str:
        return self._title("\0").split("\0")[0]

    def _on_admonition_title_close(self, token: Token) -> str:
        return self._title("\0").split("\0")[1]

    def _on_admonition_close(self, token: Token) -> str:
        return f"</{self._boxes.pop()}>\n"

    def _on_footnote_ref(self, token: Token) -> str:
        number, again = token.meta["id"] + 1, token.meta.get("subId", 0)
        back = f"fnref-{number}-{again + 1}" if again > 0 else f"fnref-{number}"
        self._referenced.add(number)
        if self._raw.in_link or any(self._links):
            return f"<sup>{number}</sup>"
        return f'<sup><a href="#fn-{number}" id="{back}">{number}</a></sup>'

    def _on_footnote_block_open(self, token: Token) -> str:
        return '<hr>\n<ol class="notes small">\n'

    def _on_footnote_block_close(self, token: Token) -> str:
        return "</ol>\n"

    def _on_footnote_open(self, token: Token) -> str:
        return f'<li id="fn-{token.meta["id"] + 1}">'

    def _on_footnote_close(self, token: Token) -> str:
        return "</li>\n"

    def _on_footnote_anchor(self, token: Token) -> str:
        number, again = token.meta["id"] + 1, token.meta.get("subId", 0)
        if number not in self._referenced:
            return ""
        back = f"fnref-{number}-{again + 1}" if again > 0 else f"fnref-{number}"
        return f' <a href="#{back}">↩</a>'


def _aligned(token: Token) -> str:
    return ' class="num"' if "right" in str(token.attrGet("style") or "") else ""


def _tag(token: Token) -> str:
    """A token that is its tag and nothing else. Unknown kinds show nothing of themselves."""
    if token.hidden:
        return "\n" if token.nesting < 0 else ""
    kind = token.type.removesuffix("_open").removesuffix("_close")
    if kind not in _PLAIN and not re.fullmatch(r"(?:heading|ordered_list|th|td)_close", token.type):
        return ""
    end = "\n" if token.block and (token.nesting < 0 or kind not in ("paragraph", "list_item")) else ""
    return f"</{token.tag}>{end}" if token.nesting < 0 else f"<{token.tag}>{end}"
