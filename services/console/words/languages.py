"""Which languages there are, and which one somebody reads."""

import re
from typing import Literal, get_args

Language = Literal["en", "de"]
LANGUAGES: dict[Language, str] = {"en": "English", "de": "Deutsch"}
"""Each under its own name."""
_RANGE = re.compile(
    r"\s*([a-z]{1,8}|\*)(?:-[a-z0-9-]{1,32})?\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?))?\s*", re.IGNORECASE
)
_LONGEST = 500


def as_language(tag: str) -> Language | None:
    """The language of that tag, or None when it is none of ours."""
    return next((known for known in get_args(Language) if known == tag), None)


def language_of(chosen: str, accepted: str) -> Language:
    """What the person chose, else the first that the browser's Accept-Language wants and that there is, else English."""
    known = as_language(chosen)
    if known:
        return known
    wanted = [found for part in accepted[:_LONGEST].split(",") if (found := _RANGE.fullmatch(part))]
    ranked = sorted(wanted, key=lambda found: -float(found[2] or 1))
    known_ones = (as_language(found[1].lower()) for found in ranked if float(found[2] or 1) > 0)
    return next((known for known in known_ones if known), "en")
