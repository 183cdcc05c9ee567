"""What the site would show, made with the site's own renderer and sheet, to be looked at in a sandbox (S13)."""

import asyncio
from uuid import UUID

from schemas.content import ItemContent
from services.console.attachments.showing import embedded
from services.console.parts import Console
from services.console.queue import views
from shared.errors import NotFound
from shared.markup import render, render_reply, resolve

POLICY = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "SAMEORIGIN",
    "Cache-Control": "private, no-store",
}


async def preview_html(console: Console, item_id: UUID, number: int | None) -> tuple[str, str, str]:
    """(language, title, body HTML) of a revision; links lead where the site's would, or are plain text."""
    async with console.db.reading() as tx:
        item = await views.item(tx, item_id)
        revision = await views.revision(tx, item_id, number or item["revision"]) if item else None
        if item is None or revision is None:
            raise NotFound("There is no such item in the queue.")
        places = await views.published_places(tx)
    kind, lang, content = item["kind"], item["lang"], ItemContent.from_bytes(revision["content"])
    places.add((kind, lang, item["path"]))
    if kind == "comment":
        return lang, content.title, render_reply(content.body, "", lang)

    def lookup(path: str) -> str | None:
        """The site's own order: the same kind and language first, then a full address."""
        rooted = tuple(path.split("/", 2))
        place = (kind, lang, path) if (kind, lang, path) in places else rooted
        return console.item_url(*place) if len(place) == 3 and place in places else None

    files = content.attachments
    rendered = await asyncio.to_thread(render, content.body, lang, item["path"], shown_title=content.title, files=files)
    html = resolve(rendered.html, lookup)
    if files:
        async with console.db.reading() as tx:
            html = await embedded(tx, item_id, html, files)
    return lang, content.title, html
