"""The words of an HTML mail. In one pass: what comes out is plain text, so nothing has to be a document, and nothing can take long."""

import html
import re

BLOCKS = frozenset(
    {
        *(
            "address",
            "article",
            "blockquote",
            "br",
            "center",
            "dd",
            "div",
            "dl",
            "dt",
            "footer",
            "form",
            "header",
            "hr",
            "li",
            "main",
        ),
        *("h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "section", "table", "tbody", "thead", "tr", "ul"),
    }
)
HIDDEN = frozenset({"script", "style", "head", "title", "template"})
"""Elements whose content nobody sees."""
COMMENT, COMMENT_END = "<!--", "-->"
_TAG = re.compile(r"<!--|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)[^<>]*>|<[!?][^<>]*>")
_BLANKS = re.compile(r"[ \t\r\f\v]+")


def words_of(text: str) -> str:
    """Line ends where blocks end, one space for many, at most one empty line in a row, entities decoded."""
    made: list[str] = []
    hidden, start = "", 0
    while tag := _TAG.search(text, start):
        made.append("" if hidden else text[start : tag.start()])
        name, start = (tag["name"] or "").lower(), tag.end()
        if tag[0] == COMMENT:
            start = text.find(COMMENT_END, start) + len(COMMENT_END)
            if start < len(COMMENT_END):
                start = len(text)
        elif hidden:
            hidden = "" if tag["end"] and name == hidden else hidden
        elif name in HIDDEN and not tag["end"]:
            hidden = name
        elif name in BLOCKS:
            made.append("\0")  # no text of a mail holds it any more
    made.append("" if hidden else text[start:])
    return _lines("".join(made))


def _lines(text: str) -> str:
    """Line ends of the source are spaces; those of blocks count."""
    shown = [html.unescape(_BLANKS.sub(" ", line.replace("\n", " "))).strip() for line in text.split("\0")]
    kept = [line for line, before in zip(shown, ["", *shown], strict=False) if line or before]
    return "\n".join(kept).strip()
