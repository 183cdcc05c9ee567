"""Approved comments as an item's page shows them: each verified against the log once more, rendered once per content."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from markupsafe import Markup

from services.site.comments.domain import PER_PAGE
from services.site.publication import store
from services.site.publication.books import Books
from services.site.publication.chain import BadReceipt
from services.site.publication.domain import Published, check_row, read_content
from services.site.publication.shelf import View
from shared.db import Database
from shared.markup import render_reply

MOST = 2000
"""Rendered comments that are remembered."""


@dataclass(frozen=True)
class Comment:
    """One as it is shown. `html`: harmless, without pictures, ids or headings."""

    item_id: UUID
    name: str
    html: Markup
    at: datetime


@dataclass(frozen=True)
class Comments:
    """One page of an item's comments, the oldest first."""

    shown: Sequence[Comment] = ()
    total: int = 0
    page: int = 1
    pages: int = 1


class CommentShelf:
    """Reads what the database holds; a row that cannot be believed is not shown."""

    def __init__(self, db: Database, books: Books) -> None:
        self._db, self._books = db, books
        self._rendered: OrderedDict[tuple[UUID, str], Markup] = OrderedDict()

    async def of(self, view: View, item: Published, page: int) -> Comments | None:
        """None when there is no such page."""
        found = view.comments(item.item_id)
        pages = max(1, -(-len(found) // PER_PAGE))
        if not 1 <= page <= pages:
            return None
        some = found[(page - 1) * PER_PAGE : page * PER_PAGE]
        await self._render([each for each in some if _key(each) not in self._rendered])
        shown = [
            Comment(each.item_id, each.title, self._rendered[_key(each)], each.published_at)
            for each in some
            if _key(each) in self._rendered
        ]
        return Comments(shown, len(found), page, pages)

    async def _render(self, missing: Sequence[Published]) -> None:
        if not missing:
            return
        async with self._db.reading() as tx:
            rows = await store.rows(tx, [each.item_id for each in missing])
        wanted = {each.item_id: each for each in missing}
        for row in rows:
            try:
                check_row(row, self._books.shelf.current(row.item_id))
                content = read_content(row.content, wanted[row.item_id].content_hash)
            except BadReceipt:
                continue  # the watch reports it
            html = render_reply(content.body, f"comment {row.item_id.hex[:8]}", row.lang)
            self._rendered[_key(wanted[row.item_id])] = Markup(html)  # noqa: S704 - cleaned by the renderer
        while len(self._rendered) > MOST:
            self._rendered.popitem(last=False)


def _key(comment: Published) -> tuple[UUID, str]:
    return comment.item_id, comment.content_hash
