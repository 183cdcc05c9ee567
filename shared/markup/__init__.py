"""Markdown of the outside world in, harmless HTML out. The console's preview and the site render with this and nothing else.

`render` is pure: the same text, language and path give the same bytes (S13). What it returns holds `item:/` links that
the caller turns into addresses, or into plain text, with `resolve`.
"""

from shared.markup.invisible import invisible
from shared.markup.links import resolve
from shared.markup.page import Rendered, render
from shared.markup.reply import render_reply
from shared.markup.source import Source, parse_source
from shared.markup.text import plain_text

__all__ = ["Rendered", "Source", "invisible", "parse_source", "plain_text", "render", "render_reply", "resolve"]
