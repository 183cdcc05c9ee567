"""Where visitors send something: views and votes, comments, answers. Put together for each readership."""

from starlette.routing import Route

from services.site.answers.pages import AnswerDoor
from services.site.comments.pages import CommentDoor
from services.site.publication.books import Books
from services.site.publication.shelf import View
from services.site.reading.again import Again
from services.site.reading.edition import Edition
from services.site.reading.rendering import Renderer
from services.site.signals.buffer import SignalBuffer
from services.site.signals.domain import FormTokens
from services.site.signals.limits import RateLimit
from services.site.signals.pages import SignalDoor
from services.site.signals.reception import Reception
from services.site.signals.visitors import Visitors
from shared.db import Database


class Doors:
    """`renderer` gives an item's text, which says what can be sent about it."""

    def __init__(
        self,
        db: Database,
        books: Books,
        renderer: Renderer,
        buffer: SignalBuffer,
        visitors: Visitors,
        tokens: FormTokens,
        limit: RateLimit,
        ingest_token: str,
    ) -> None:
        self._db, self._books, self._renderer, self._buffer = db, books, renderer, buffer
        self._visitors, self._tokens, self._limit, self._ingest_token = visitors, tokens, limit, ingest_token

    def _reception(self, view: View) -> Reception:
        return Reception(self._books.shelf, self._visitors, self._tokens, self._limit, view)

    def of(self, edition: Edition) -> list[Route]:
        """What the readers of an edition can send."""
        reception = self._reception(edition.view)
        again = Again(edition.layout, reception)
        signals = SignalDoor(self._db, self._buffer, self._ingest_token, reception)
        comments = CommentDoor(self._db, reception, self._renderer.text, again)
        answers = AnswerDoor(self._db, reception, self._renderer.text, again)
        return [*signals.routes(), *comments.routes(), *answers.routes()]

    def operators(self) -> Route:
        """The operator's own door: a log's lines are of any page there is."""
        reception = self._reception(self._books.shelf.members)
        return SignalDoor(self._db, self._buffer, self._ingest_token, reception).operators()
