"""After cleaning: names for what can be scrolled, and what links to other sites say. No text of an author is used here."""

import re
from collections.abc import Mapping

from shared.markup.words import words_for

REL = "noopener noreferrer nofollow"
_EMPTY = re.compile(r'<(p|h[2-6]|summary|a)(?: [a-z]+="[^"]*")*>\s*</\1>\n?')
_EMPTY_HEAD = re.compile(r'<th(?: [a-z]+="[^"]*")*></th>')
_DEAD_LINK = re.compile(r'<a(?: (?:title|id)="[^"]*")*>(.*?)</a>', re.DOTALL)
_DRESSED = re.compile(
    r'<pre>|<table(?: class="grid")?>|</table>|<a href="https?:|<a href="#fn-\d+" id|<a href="#fnref-', re.IGNORECASE
)


def dress(html: str, lang: str) -> str:
    """Wrap tables, name and make focusable what scrolls (each name once per page), and mark links to other sites."""
    html = _EMPTY.sub("", _EMPTY.sub("", html))  # twice: a paragraph may be empty once its empty link is gone
    html = _DEAD_LINK.sub(r"\1", _EMPTY_HEAD.sub("<td></td>", html))
    words = words_for(lang)
    counts = {"code": 0, "table": 0}

    def region(kind: str) -> str:
        counts[kind] += 1
        return f'tabindex="0" role="region" aria-label="{words[kind]} {counts[kind]}"'

    def dressed(found: re.Match[str]) -> str:
        tag = found[0]
        if tag == "<pre>":
            return f"<pre {region('code')}>"
        if tag == "</table>":
            return "</table></div>"
        if tag.startswith("<table"):
            return f'<div class="scroll" {region("table")}><table class="grid">'
        return _link(tag, words)

    return _DRESSED.sub(dressed, html)


def _link(tag: str, words: Mapping[str, str]) -> str:
    if tag.startswith('<a href="#fnref-'):
        return f'<a aria-label="↩ {words["back"]}" {tag[3:]}'
    if tag.startswith('<a href="#fn-'):
        number = tag.split("-", 1)[1].split('"', 1)[0]
        return f'<a aria-label="{number}, {words["footnote"]}" {tag[3:]}'
    return f'<a rel="{REL}" {tag[3:]}'
