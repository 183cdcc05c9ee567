"""From verified content to HTML, in two steps: the text itself, which never changes for a content hash, and its links,
which depend on what else is published."""

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote
from uuid import UUID

from schemas.content import Form
from services.site.publication import store
from services.site.publication.books import Books
from services.site.publication.chain import BadReceipt
from services.site.publication.domain import Published, Row, check_row, read_content
from services.site.publication.shelf import View
from shared.db import Database
from shared.errors import BadSignature, NotFound
from shared.markup import Rendered, render, resolve

INLINE = 4096
"""Bytes of content up to which rendering is quicker than handing it to a thread."""
MAX_TEXTS = 16 * 1024 * 1024
WORDS_A_MINUTE = 200
_PLACE = re.compile(r'href="item:/([^"#]*)')


@dataclass(frozen=True)
class Text:
    """A rendered content. `places`: paths of other items that it links to. `form`, `takes_comments`: what visitors can send about it."""

    item: Published
    rendered: Rendered
    places: frozenset[str]
    form: Form | None = None
    takes_comments: bool = False

    @property
    def minutes(self) -> int:
        return max(1, round(self.rendered.words / WORDS_A_MINUTE))


def href(url: str) -> str:
    """An item's URL as it stands in a link."""
    return quote(url, safe="/:@!$&'()*+,;=~-._")


class Renderer:
    """Renders what the database holds, after verifying the row once more. Keeps up to 16 MiB of rendered texts."""

    def __init__(self, db: Database, books: Books) -> None:
        self._db, self._books = db, books
        self._texts: OrderedDict[tuple[str, str], Text] = OrderedDict()
        self._bytes = 0
        self._under_way: dict[tuple[str, str], asyncio.Task[Text]] = {}

    async def row(self, item_id: UUID) -> Row:
        """The item's row, checked against the log, and both signatures if nobody has yet. NotFound or BadReceipt when it must not be shown."""
        async with self._db.reading() as tx:
            row = await store.row(tx, item_id)
        if row is None:
            raise NotFound("the row is gone")
        current = self._books.shelf.current(item_id)
        check_row(row, current)
        assert current is not None, "check_row refuses a row without an entry"
        try:
            self._books.prove(current.entry.seq)
        except BadSignature as error:  # the next look verifies the whole log, and says what is wrong
            raise BadReceipt(error.message) from None
        return row

    async def verified(self, item: Published) -> Text:
        """The item's rendered text, for a page that is made anew: the row and its receipt are looked at each time."""
        row = await self.row(item.item_id)
        if row.seq != item.seq:
            raise NotFound("another revision was published meanwhile")
        return await self.text(item, row)

    async def text(self, item: Published, row: Row | None = None) -> Text:
        """The item's rendered text. Several requests for one text render it once. `row`: as `row` gave it just now."""
        key = (item.content_hash, item.url)
        text = self._texts.get(key)
        if text is not None:
            self._texts.move_to_end(key)
            return text if text.item == item else replace(text, item=item)
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._render(item, row), name="render")
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def _render(self, item: Published, row: Row | None) -> Text:
        row = row or await self.row(item.item_id)
        content = read_content(row.content, item.content_hash)
        if len(row.content) <= INLINE:
            rendered = render(content.body, item.lang, item.path, shown_title=item.title, files=item.attachments)
        else:
            rendered = await asyncio.to_thread(
                render, content.body, item.lang, item.path, shown_title=item.title, files=item.attachments
            )
        places = frozenset(unquote(place) for place in _PLACE.findall(rendered.html))
        text = Text(item, rendered, places, content.form, takes_comments=content.comments != "closed")
        self._keep((item.content_hash, item.url), text)
        return text

    def _keep(self, key: tuple[str, str], text: Text) -> None:
        self._texts[key] = text
        self._bytes += len(text.rendered.html)
        while self._bytes > MAX_TEXTS:
            _, oldest = self._texts.popitem(last=False)
            self._bytes -= len(oldest.rendered.html)

    def linked(self, text: Text, view: View) -> tuple[str, set[str]]:
        """HTML with links to what these readers can see now (the rest is plain text), and the addresses that were looked up."""
        item = text.item
        asked: set[str] = set()

        def lookup(path: str) -> str | None:
            same = f"/{item.kind}/{item.lang}/{path}"
            asked.update((same, f"/{path}"))
            found = view.at(same) or view.at(f"/{path}")
            return href(found.url) if found else None

        return resolve(text.rendered.html, lookup), asked
