"""Files that somebody gives with a Markdown text become attachments: pictures made anew, with their smaller editions and what they show in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from schemas.content import Attachment
from schemas.model import MAX_ATTACHMENT, MAX_ATTACHMENTS
from schemas.text import sha256
from shared.attachments import LIMIT, PICTURES, check_names, fault_of_name, human_size, media_type
from shared.errors import Refused, TooLarge
from shared.imaging import made_anew, smaller_editions
from shared.markup.files import last_part, sources
from shared.markup.parser import parse

LONGEST_ALT = 500


@dataclass(frozen=True)
class Prepared:
    """`attachments` as the content names them; `data`: their bytes by hash."""

    attachments: tuple[Attachment, ...] = ()
    data: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def prepare(files: Sequence[tuple[str, bytes]], body: str) -> Prepared:
    """(name, bytes) in order; slow for pictures, so not for an event loop. Refused or TooLarge names the file and the rule's value."""
    alts = dict(_pictures_in(parse(body)))
    own = [made for name, raw in files for made in _made(name, raw, alts)]
    room = MAX_ATTACHMENTS - len(files)
    if room < 0:
        raise Refused(f"an item has at most {MAX_ATTACHMENTS} attachments; these are {len(files)}", code="attachments")
    editions = [found for name, _ in files for found in _editions(name, own, alts)]
    every = [*own, *editions[:room]]
    fault = check_names([each for each, _ in every])
    if fault:
        raise Refused(f"The attachments were not taken: {fault}.", code="attachments")
    return Prepared(tuple(each for each, _ in every), {each.hash: raw for each, raw in every})


def _made(name: str, raw: bytes, alts: Mapping[str, str]) -> Iterator[tuple[Attachment, bytes]]:
    kind = media_type(name)
    fault = fault_of_name(name)
    if kind is None or fault:
        raise Refused(f"The attachments were not taken: {fault}.", code="attachments")
    width = height = None
    if kind in PICTURES.values():
        try:
            made = made_anew(kind, raw)
        except Refused as error:
            raise type(error)(f"{name}: {error.message}", code=error.code) from None
        raw, width, height = made.raw, made.width, made.height
    if not raw:
        raise Refused(f"{name} is empty", code="attachments")
    if len(raw) > MAX_ATTACHMENT:
        raise TooLarge(f"{name} has {human_size(len(raw))}; an attachment has at most {LIMIT}")
    alt = alts.get(name, "")
    yield (
        Attachment(name=name, media_type=kind, size=len(raw), hash=sha256(raw), alt=alt, width=width, height=height),
        raw,
    )


def _editions(
    name: str, own: Sequence[tuple[Attachment, bytes]], alts: Mapping[str, str]
) -> Iterator[tuple[Attachment, bytes]]:
    kind = media_type(name)
    if kind is None or kind not in PICTURES.values():
        return
    stands = next(raw for each, raw in own if each.name == name)
    for made in smaller_editions(kind, stands):
        edition = f"{name.rpartition('.')[0]}.{made.width}w.webp"
        yield Attachment(
            name=edition, media_type=made.media_type, size=len(made.raw), hash=sha256(made.raw), alt=alts.get(name, ""),
            width=made.width, height=made.height,
        ), made.raw  # fmt: skip


def _pictures_in(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """(name, what it shows) of each picture; the first that says something counts."""
    said: dict[str, str] = {}
    for source, alt in sources(tokens):
        name = last_part(source)
        said[name] = said.get(name) or " ".join(alt.split())[:LONGEST_ALT]
    yield from said.items()
