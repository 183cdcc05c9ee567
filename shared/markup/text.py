"""The words of a rendered page: for search, word counts and summaries."""

import html
import re

_NOTE_REF = re.compile(r'<sup><a [^>]*href="#fn-\d+"[^>]*>\d+</a></sup>')
_BREAKING = re.compile(
    r"</?(?:p|div|h[1-6]|li|ul|ol|dl|dt|dd|table|thead|tbody|tr|td|th|pre|blockquote|details|summary|hr|br)(?: [^>]*)?>"
)
_TAG = re.compile(r"</?[a-z][^>]*>")
_WORD = re.compile(r"\w+")
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
SUMMARY_LENGTH = 240


def plain_text(rendered: str) -> str:
    """The visible text of what `render` returned: one line per block, entities decoded, footnote numbers left out."""
    text = _BREAKING.sub("\n", _NOTE_REF.sub("", rendered))
    lines = html.unescape(_TAG.sub("", text)).split("\n")
    return "\n".join([line.rstrip() for line in lines if line.strip()])


def count_words(text: str) -> int:
    """Number of words (runs of word characters) of plain text."""
    return sum(1 for _ in _WORD.finditer(text))


def summary_of(rendered: str) -> str:
    """The first paragraph's text, cut at a word to at most 240 characters; empty when there is none."""
    for paragraph in _PARAGRAPH.finditer(rendered):
        text = " ".join(plain_text(paragraph[1]).split())
        if text:
            return shorten(text, SUMMARY_LENGTH)
    return ""


def shorten(text: str, length: int) -> str:
    """At most `length` characters, cut at a space where there is one, with an ellipsis for what is left out."""
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(" ,;:.-–") + "…"
