"""What can be shared with the agent, and whose words it is. No framework."""

from dataclasses import dataclass
from typing import Literal, get_args
from uuid import UUID

from schemas.text import text_fault
from shared.errors import Refused, TooLarge
from shared.markup import invisible

Kind = Literal["feedback", "item", "text"]
Source = Literal["staff", "visitor", "outside"]
SOURCES: tuple[Source, ...] = get_args(Source)
MOST_TEXT = 256 * 1024
"""Bytes of one record; characters of it are at most as many, which is what its event can hold."""
MOST_TITLE = 200
MOST_AT_ONCE = 100


@dataclass(frozen=True)
class Record:
    """`source`: a visitor's or an outsider's words are data to the agent, and taint what it does after reading them (S11)."""

    record_id: UUID
    kind: Kind
    title: str
    text: str
    source: Source


def check_source(source: str) -> Source:
    for known in SOURCES:
        if source == known:
            return known
    raise Refused(f"Say whose words it is: one of {', '.join(SOURCES)}.", code="source")


def check_title(title: str) -> str:
    clean = " ".join(title.split())
    if not clean or len(clean) > MOST_TITLE or text_fault(clean) or invisible(clean):
        raise Refused(f"A title has 1 to {MOST_TITLE} characters, all of them visible.", code="title")
    return clean


def check_text(text: str) -> str:
    clean = text.replace("\r\n", "\n")
    if len(clean.encode("utf-8", "surrogatepass")) > MOST_TEXT:
        raise TooLarge(f"What is shared with the agent has at most {MOST_TEXT // 1024} KiB.")
    if not clean.strip() or text_fault(clean):
        raise Refused(f"There is no text to share{': ' + fault if (fault := text_fault(clean)) else ''}.", code="text")
    return clean
