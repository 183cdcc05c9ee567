"""CommonMark with tables, strikethrough, footnotes, admonitions and heading anchors, as tokens."""

from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from shared.markup import blocks
from shared.markup.headings import read_anchors, title_of

MAX_NESTING = 40
"""Levels of lists, quotes and admonitions; what lies deeper is shown as plain paragraphs."""

MOST_WORK = 100_000
"""Steps of inline parsing on one page. Ordinary text needs one for some 15 characters; what comes after is shown as it is written."""


class _Markdown(MarkdownIt):
    """Leaves addresses as they are written: `links.target` decides on them at the end."""

    def normalizeLink(self, url: str) -> str:
        return url

    def validateLink(self, url: str) -> bool:
        return True


def parse(body: str) -> list[Token]:
    """Tokens of a Markdown body. `meta["anchor"]` of a heading is its `{#anchor}`."""
    return _parser().parse(body, {"steps": 0})


def first_title(body: str) -> str | None:
    """The text of the first top-level `# heading`, without markup."""
    return title_of(parse(body))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    markdown = _Markdown("commonmark", {"html": True, "maxNesting": MAX_NESTING})
    markdown.enable(["table", "strikethrough"]).use(footnote_plugin)
    blocks.install(markdown, MAX_NESTING)
    markdown.inline.ruler.before("text", "work", _work)
    markdown.core.ruler.before("inline", "alerts", blocks.alerts)
    markdown.core.ruler.before("inline", "anchors", read_anchors)
    markdown.core.ruler.before("footnote_tail", "keep_notes", _keep_notes)
    markdown.core.ruler.after("text_join", "tasks", blocks.tasks)
    markdown.parse("x", {"steps": 0})  # builds the rulers' caches before a second thread can see them half built
    return markdown


def _work(state: StateInline, silent: bool) -> bool:
    """Inline rule: counts, and takes the rest as text when a page asks for too much (counted, not timed: S13)."""
    state.env["steps"] += 1
    if state.env["steps"] <= MOST_WORK:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : state.posMax])
    state.pos = state.posMax
    return True


def _keep_notes(state: StateCore) -> None:
    """A footnote that nothing refers to is still the author's text: it is listed with the others."""
    notes = state.env.get("footnotes", {})
    for name, number in notes.get("refs", {}).items():
        if number < 0:
            notes["refs"][name] = len(notes["list"])
            notes["list"][len(notes["list"])] = {"label": name[1:], "count": 0}
