"""An item's own page and its receipt."""

from starlette.requests import Request
from starlette.responses import Response

from schemas.site.v1 import REACTIONS
from services.site.publication.chain import BadReceipt
from services.site.publication.domain import Published, Row
from services.site.reading.desk import HTML, Desk, place, receipt_of
from services.site.reading.layout import language_of, moved
from services.site.reading.receipt import receipt_json, receipt_parts
from services.site.reading.rendering import href
from services.site.reading.words import language_name, words_for
from services.site.signals.domain import FormTokens
from services.site.signals.tallies import Tallies
from shared.clock import now
from shared.errors import NotFound


class ItemPages:
    def __init__(self, desk: Desk, tallies: Tallies, tokens: FormTokens) -> None:
        self._desk, self._tallies, self._tokens = desk, tallies, tokens

    async def item(self, request: Request, item: Published) -> Response:
        try:
            text = await self._desk.renderer.text(item)
        except (NotFound, BadReceipt):
            self._desk.books.hide(item.item_id)
            return self._desk.layout.notice(language_of(request), 404)
        if self._desk.view.at(item.url) is not item:
            return moved(href(item.url))  # something else was published meanwhile: the visitor asks again
        html, refs = self._desk.renderer.linked(text, self._desk.view)
        day = now().date()
        body = self._desk.layout.page(
            "item.html",
            words_for(item.lang),
            lang=item.lang,
            here=href(item.url),
            kind=item.kind,
            nav_lang=item.lang,
            item=item,
            html=html,
            toc=[each for each in text.rendered.toc if each[0] <= 3],
            minutes=text.minutes,
            alternates=self._desk.catalog.alternates(item),
            switches=[
                (href(each.url), each.lang, language_name(each.lang)) for each in self._desk.catalog.alternates(item)
            ],
            tally=self._tallies.of(item.item_id, self._desk.view.sees),
            token=self._tokens.make(item.item_id, day),
            reactions=REACTIONS,
            base_url=self._desk.base_url,
            feed=f"/{item.lang}/feed.xml",
        )
        return self._desk.keep(request, item.url, body.encode(), HTML, {*refs, place(item)})

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
