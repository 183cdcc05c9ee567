"""GET /identity: brings a signed-in person to the site or the workspace, by a form that the browser posts there."""

from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.forms import query
from services.console.identity.domain import LONGEST_PLACE, check_audience, check_nonce, check_place
from services.console.identity.usecases.mint_token import mint_token

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action {}; base-uri 'none'; frame-ancestors 'none'"
)
WORDS = {"agent": "the workspace", "site": "the site"}


class IdentityPages:
    """Works without JavaScript by its button. There is no back channel: the receiver verifies what the browser brings."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/identity", self._desk.page(self.hand_over))]

    async def hand_over(self, visit: Visit) -> Response:
        audience = check_audience(query(visit.request, "audience"))
        nonce = check_nonce(query(visit.request, "nonce"))
        place = check_place(query(visit.request, "next", LONGEST_PLACE) or "/")
        session = visit.session.token_hash
        handed = await mint_token(self._console.db, self._console.identity, session, audience, nonce)
        url = self._console.audience_url(audience)
        answer = await visit.show("identity.html", to=WORDS[audience], url=url, handed=handed, place=place)
        there = urlsplit(url)
        answer.headers["Content-Security-Policy"] = POLICY.format(f"{there.scheme}://{there.netloc}")
        # The receiver accepts this console's origin alone, and under no-referrer a browser would hide it.
        answer.headers["Referrer-Policy"] = "strict-origin"
        return answer
