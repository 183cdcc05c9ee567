"""CommonMark with tables, strikethrough, footnotes, admonitions and heading anchors, as tokens."""

from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from shared.markup import blocks
from shared.markup.headings import read_anchors, title_of

MAX_NESTING = 40
"""Levels of lists, quotes and admonitions; what lies deeper is shown as plain paragraphs."""


class _Markdown(MarkdownIt):
    """Leaves addresses as they are written: `links.target` decides on them at the end."""

    def normalizeLink(self, url: str) -> str:
        return url

    def validateLink(self, url: str) -> bool:
        return True


def parse(body: str) -> list[Token]:
    """Tokens of a Markdown body. `meta["anchor"]` of a heading is its `{#anchor}`."""
    return _parser().parse(body, {})


def first_title(body: str) -> str | None:
    """The text of the first top-level `# heading`, without markup."""
    return title_of(parse(body))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    markdown = _Markdown("commonmark", {"html": True, "maxNesting": MAX_NESTING})
    markdown.enable(["table", "strikethrough"]).use(footnote_plugin)
    blocks.install(markdown, MAX_NESTING)
    markdown.core.ruler.before("inline", "alerts", blocks.alerts)
    markdown.core.ruler.before("inline", "anchors", read_anchors)
    markdown.core.ruler.before("footnote_tail", "keep_notes", _keep_notes)
    markdown.core.ruler.after("text_join", "tasks", blocks.tasks)
    return markdown


def _keep_notes(state: StateCore) -> None:
    """A footnote that nothing refers to is still the author's text: it is listed with the others."""
    notes = state.env.get("footnotes", {})
    for name, number in notes.get("refs", {}).items():
        if number < 0:
            notes["refs"][name] = len(notes["list"])
            notes["list"][len(notes["list"])] = {"label": name[1:], "count": 0}
