"""The words of a page of the web. Pure; whatever it holds is data."""

from html.parser import HTMLParser

SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "object"})
BREAKS = frozenset(
    [
        "p",
        "div",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "li",
        "tr",
        "br",
        "section",
        "article",
        "header",
        "footer",
        "td",
        "th",
        "pre",
        "blockquote",
    ]
)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipping: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SKIPPED:
            self._skipping.append(tag)
        if tag in BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipping:
            del self._skipping[self._skipping.index(tag) :]
        if tag in BREAKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self.parts.append(data)


def words_of(content_type: str, text: str) -> str:
    """Text as it is; of HTML what a reader sees, a line for a block."""
    if "html" not in content_type and not text.lstrip()[:15].lower().startswith(("<!doctype html", "<html")):
        return text
    reader = _Words()
    reader.feed(text)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)
