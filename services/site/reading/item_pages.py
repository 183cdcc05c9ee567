"""An item's own page and its receipt."""

from starlette.requests import Request
from starlette.responses import Response

from schemas.site.v1 import REACTIONS
from services.site.comments.showing import CommentShelf
from services.site.publication.chain import BadReceipt
from services.site.publication.domain import Published, Row
from services.site.publication.shelf import View
from services.site.reading.desk import HTML, Desk, place, receipt_of, told
from services.site.reading.layout import language_of, moved, private
from services.site.reading.list_pages import whole
from services.site.reading.receipt import receipt_json, receipt_parts
from services.site.reading.rendering import href
from services.site.reading.sharing import by_link, card_of, files_under
from services.site.reading.words import language_name, words_for
from services.site.signals.domain import FormTokens
from services.site.signals.tallies import Tallies
from shared.attachments import address
from shared.clock import now
from shared.errors import NotFound


class ItemPages:
    """`links_to`: what its readers see besides, where that is another view than the one it is in."""

    def __init__(
        self, desk: Desk, tallies: Tallies, tokens: FormTokens, comments: CommentShelf, links_to: View | None = None
    ) -> None:
        self._desk, self._tallies, self._tokens, self._comments = desk, tallies, tokens, comments
        self._links_to = links_to or desk.view

    async def item(self, request: Request, item: Published, shared_by: str = "") -> Response:
        """`shared_by`: the token of the share link by which it was reached; then nobody may keep the page."""
        number = whole(request.query_params.get("comments", "1"))
        try:
            text = await self._desk.renderer.verified(item)
        except (NotFound, BadReceipt):
            self._desk.books.hide(item.item_id)
            return self._desk.layout.notice(language_of(request), 404)
        if self._desk.view.at(item.url) is not item:
            return moved(href(item.url))  # something else was published meanwhile: the visitor asks again
        comments = await self._comments.of(self._desk.view, item, number)
        if comments is None:
            return self._desk.layout.notice(language_of(request), 404)
        html, refs = self._desk.renderer.linked(text, self._links_to)
        day, related = now().date(), [] if shared_by else self._desk.catalog.related(item)
        body = self._desk.layout.page(
            "item.html",
            words_for(item.lang),
            lang=item.lang,
            here="/" if shared_by else href(item.url),
            address=f"/l/{shared_by}" if shared_by else href(item.url),
            shared_by=shared_by,
            kind=item.kind,
            nav_lang=item.lang,
            item=item,
            html=by_link(html, shared_by) if shared_by else html,
            files=[
                (by_link(address(each), shared_by) if shared_by else address(each), each)
                for each in files_under(item, html)
            ],
            card=card_of(item, text.rendered.summary),
            related=related,
            toc=[each for each in text.rendered.toc if each[0] <= 3],
            minutes=text.minutes,
            alternates=self._desk.catalog.alternates(item),
            switches=[
                (href(each.url), each.lang, language_name(each.lang)) for each in self._desk.catalog.alternates(item)
            ],
            tally=self._tallies.of(item.item_id, self._desk.view.sees),
            token=self._tokens.make(item.item_id, day),
            reactions=REACTIONS,
            form=text.form,
            takes_comments=text.takes_comments,
            comments=comments,
            base_url=self._desk.base_url,
            feed=f"/{item.lang}/feed.xml",
        )
        if shared_by:
            return private(body)
        return self._desk.keep(
            request, item.url, body.encode(), HTML, {*refs, place(item), *(told(each) for each in related)}
        )

    async def receipt(self, request: Request) -> Response:
        found = await self._receipted(request)
        if found is None:
            return self._desk.layout.notice(language_of(request), 404)
        item, row = found
        words = words_for(item.lang)
        body = self._desk.layout.page("receipt.html", words, item=item, parts=receipt_parts(row, words))
        return self._desk.keep(request, request.url.path, body.encode(), HTML, {receipt_of(item.item_id)})

    async def receipt_file(self, request: Request) -> Response:
        found = await self._receipted(request)
        if found is None:
            return self._desk.layout.notice(language_of(request), 404)
        item, row = found
        body = receipt_json(item, row, self._desk.books.keys)
        return self._desk.keep(request, request.url.path, body, "application/json", {receipt_of(item.item_id)})

    async def _receipted(self, request: Request) -> tuple[Published, Row] | None:
        """The item as these readers see it and its row. While the row was read it may have become another, for other readers."""
        item = self._desk.view.item(request.path_params["item_id"])
        if item is None:
            return None
        try:
            row = await self._desk.renderer.row(item.item_id)
        except (NotFound, BadReceipt):
            return None
        return (item, row) if row.seq == item.seq and self._desk.view.item(item.item_id) is item else None
