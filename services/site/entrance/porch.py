"""What people meet before they are let in: sign-in and back, invitations, and what is said to those who stay outside.

None of these pages says anything about what is published, and no cache keeps one.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.site.reading.layout import Layout, private, spoken_by
from shared.errors import Refused
from shared.identity.doors import SIGN_IN, SIGN_OUT, SIGNED_IN, SignInDoor, go
from shared.web.forms import read_form

INVITED = "/invited/"
PATHS = (SIGN_IN, SIGNED_IN, SIGN_OUT)
CARRIED = ("/signals/vote", "/signals/reaction", "/signals/feedback", "/comments", "/answers")
"""Forms that are not lost when they meet a session that is over."""
LONGEST_LINK = 200
FROM_HERE = "sign-in"
"""The query by which a closed page leads to signing in and back to this address, without naming it."""


class Porch:
    """`layout` is bare: it names no sections."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    @staticmethod
    def has(path: str) -> bool:
        return path in PATHS or path.startswith(INVITED)

    def routes(self, door: SignInDoor) -> list[Route]:
        """`door` shows this porch's pages, so it is made after it."""

        async def accept(request: Request) -> Response:
            """Uses the invitation up. Whatever is wrong with one, the answer is the same."""
            link: str = request.path_params["token"]
            taken = await door.sessions.accept(link) if len(link) <= LONGEST_LINK else None
            if taken is None:
                return self._page(request, 403, "not_invited")
            response = go("/")
            door.let_in(response, *taken)
            return response

        link = INVITED + "{token}"
        return [*door.routes(), Route(link, self.invited), Route(link, accept, methods=["POST"])]

    async def invited(self, request: Request) -> Response:
        """The same for every link, and it uses none up: a program that looks at links in mails must not be the guest."""
        return self._page(request, 200, "invited", button="come_in")

    def closed(self, request: Request) -> Response:
        """For anybody who has not signed in while the site is for members: the same at every address, to the byte."""
        return self._page(request, 403, "closed", link=f"?{FROM_HERE}", link_text="sign_in")

    def refused(self, request: Request, error: Refused) -> Response:
        named = f"refused_{error.code}"
        text = spoken_by(request).get(named, "refused_token")
        return self._page(request, error.status, "refused", link=SIGN_IN, link_text="again", text=text)

    async def carried(self, request: Request) -> Response:
        """What was typed before the session ended, to be sent once more."""
        form = await read_form(request)
        return self._page(request, 401, "carried", carried=list(form.items()), to=request.url.path)

    def _page(self, request: Request, status: int, heading: str, **about: Any) -> Response:
        words = spoken_by(request)
        known = {
            "button": "",
            "link": "",
            "carried": (),
            "to": "",
            "text": words.get(f"{heading}_more", heading),
        }
        body = self._layout.page("porch.html", words, status=status, heading=words[heading], **(known | about))
        return private(body, status)
