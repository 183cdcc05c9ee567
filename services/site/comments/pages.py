"""Where visitors' comments come in."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.site.comments.domain import make_comment
from services.site.comments.usecases.submit_comment import submit_comment
from services.site.publication.domain import Published
from services.site.reading.again import Again
from services.site.reading.layout import see
from services.site.reading.rendering import Text
from services.site.reading.words import words_for
from services.site.signals.reception import Reception, Subject
from shared.db import Database
from shared.errors import Conflict, Forbidden, Refused
from shared.web.forms import read_form

COMMENTS = "/comments"


class CommentDoor:
    """For one readership. `text` gives an item's rendered text, which says whether visitors may write about it."""

    def __init__(
        self, db: Database, reception: Reception, text: Callable[[Published], Awaitable[Text]], again: Again
    ) -> None:
        self._db, self._reception, self._text, self._again = db, reception, text, again

    def routes(self) -> list[Route]:
        return [Route(COMMENTS, self.comment, methods=["POST"])]

    async def comment(self, request: Request) -> Response:
        """Back to the page, which says that a person will look at it first; what is refused is shown again, with the reason."""
        form = await read_form(request)
        subject = self._reception.subject(form)
        if not (await self._text(subject.item)).takes_comments:
            raise Forbidden("comments on this page are closed", code="closed")
        try:
            await self._hand_in(request, subject, form)
        except Refused as refused:
            return self._again.comment(subject, form, refused)
        return see(f"{subject.address}#commented")

    async def _hand_in(self, request: Request, subject: Subject, form: dict[str, str]) -> None:
        nameless = words_for(subject.item.lang)["a_visitor"]
        content = make_comment(subject.item.item_id, form.get("name", "").strip() or nameless, form.get("text", ""))
        visitor = await self._reception.admit(request)
        with suppress(Conflict):  # the same words were sent before, by a double click
            async with self._db.transaction() as tx:
                await submit_comment(tx, subject.item, visitor, content)
