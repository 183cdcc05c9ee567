"""When a cleanup job comes: the same words as everywhere, but that a day without a time means 03:00 (rule 7a), and so does a night."""

import re
from datetime import datetime

from shared.schedules.domain import Cron, Understood
from shared.schedules.words import NotUnderstood, understand

_NIGHT = re.compile(r"\b(?:every|each) night\b|\bnightly\b", re.IGNORECASE)
_NACHT = re.compile(r"\bjede nacht\b|\bnachts\b|\bnächtlich\b", re.IGNORECASE)


def understand_cleanup(words: str, zone: str, at: datetime) -> Understood:
    """As `understand`; a cron expression is taken as it stands."""
    words = _NACHT.sub("jeden Tag", _NIGHT.sub("every day", words))
    try:
        read = understand(words, zone, at)
    except NotUnderstood:
        return understand(f"cleanup {words}", zone, at)
    return read if isinstance(read.rule, Cron) else understand(f"cleanup {words}", zone, at)
