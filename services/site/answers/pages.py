"""Where visitors' answers to the form of an item come in."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.site.answers.domain import read_answers
from services.site.answers.usecases.answer_form import answer_form
from services.site.publication.domain import Published
from services.site.reading.again import Again
from services.site.reading.layout import see
from services.site.reading.rendering import Text
from services.site.signals.reception import Reception
from shared.db import Database
from shared.errors import Conflict, NotFound
from shared.web.forms import read_form

ANSWERS = "/answers"
MOST_FIELDS = 40
MAX_ANSWERS = 512 * 1024


class AnswerDoor:
    """For one readership. `text` gives an item's rendered text with its form."""

    def __init__(
        self, db: Database, reception: Reception, text: Callable[[Published], Awaitable[Text]], again: Again
    ) -> None:
        self._db, self._reception, self._text, self._again = db, reception, text, again

    def routes(self) -> list[Route]:
        return [Route(ANSWERS, self.answer, methods=["POST"])]

    async def answer(self, request: Request) -> Response:
        """Back to the page, which says thank you; what cannot be taken is shown again, with what is wrong beside each field."""
        given = await read_form(request, MAX_ANSWERS, MOST_FIELDS)
        subject = self._reception.subject(given)
        form = (await self._text(subject.item)).form
        if form is None or given.get("form") != form.name:
            raise NotFound("there is no such form")
        filled = read_answers(form, given)
        if filled.faults:
            return self._again.form(subject, form, filled.answers, filled.faults)
        visitor = await self._reception.admit(request)
        with suppress(Conflict):  # the same answers were sent before, by a double click
            async with self._db.transaction() as tx:
                await answer_form(tx, subject.item, form, visitor, filled.answers)
        return see(f"{subject.address}#answered")
