"""One page: tokens to HTML. Everything an author can influence goes through `clean` at the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.content import Attachment
from shared.markup.chart_block import drawn
from shared.markup.clean import clean
from shared.markup.headings import outline
from shared.markup.parser import parse
from shared.markup.regions import dress
from shared.markup.text import count_words, plain_text, summary_of
from shared.markup.writer import Writer


@dataclass(frozen=True)
class Rendered:
    """`html` without the title's h1; links to other items are `item:/<path>` until `resolve`.

    title: text of the first top-level h1, None when there is none. toc: (level, id, text) of the headings in html.
    words: of html. summary: the first paragraph, at most 240 characters.
    """

    html: str
    title: str | None
    toc: tuple[tuple[int, str, str], ...]
    words: int
    summary: str


def render(
    body: str, lang: str, base_path: str, *, shown_title: str | None = None, files: Sequence[Attachment] = ()
) -> Rendered:
    """Safe HTML of a Markdown body. Same arguments, same bytes.

    lang: BCP 47, for the words that rendering adds. base_path: the item's own path, which relative links start from.
    shown_title: what the page prints as its h1; a first `# heading` that says something else then stays in the html.
    files: what belongs to the text: pictures and links that name one of them lead to it.
    """
    tokens = parse(body)
    found = outline(tokens, shown_title)
    writer = Writer(base_path, found.ids, files)
    html = dress(clean(writer.write(tokens, lang)), lang)
    words, summary = count_words(plain_text(html)), summary_of(html)
    return Rendered(drawn(html, writer.charts, lang), found.title, tuple(found.toc), words, summary)
