"""Audiences, the rules of a token, and what a request for one must look like. No framework."""

import re
from datetime import timedelta
from typing import Literal, get_args

from shared.errors import Refused

Audience = Literal["agent", "site"]
AUDIENCES: tuple[Audience, ...] = get_args(Audience)
FRONTS: dict[Audience, str] = {"agent": "workspace", "site": "site"}
"""An audience's name among the addresses that people type."""
MINTS, MINT_WINDOW = 30, timedelta(minutes=1)
"""Tokens that one sign-in gets in a window: a page of a receiver asks for one every ten minutes."""
LONGEST_PLACE = 2000
_NONCE = re.compile(r"[0-9a-f]{64}")


def check_audience(asked: str) -> Audience:
    for known in AUDIENCES:
        if asked == known:
            return known
    raise Refused("There is no such place to sign in to; start at the site or the workspace.", code="audience")


def check_nonce(nonce: str) -> str:
    """A SHA-256 in hex: of the cookie that binds the token to one browser at the receiver."""
    if not _NONCE.fullmatch(nonce):
        raise Refused("This address is not whole; start again at the site or the workspace.", code="nonce")
    return nonce


def check_place(place: str) -> str:
    """A path at the receiver; never another host."""
    inside = place.startswith("/") and not place.startswith("//") and "\\" not in place and place.isprintable()
    if not inside or len(place) > LONGEST_PLACE:
        raise Refused(f"next is a path of at most {LONGEST_PLACE} characters that begins with one slash.", code="next")
    return place
