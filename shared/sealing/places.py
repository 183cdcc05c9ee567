"""Places as people write them: `agent/llm/openai`, `agent/mail/user:7/inbox`."""

from pydantic import ValidationError

from schemas.outward import ASKERS, Owner, SecretPlace
from shared.errors import Refused

FORM = "SURFACE/CONNECTOR/NAME, or SURFACE/CONNECTOR/user:ID/NAME for one person's own"


def read_place(text: str) -> SecretPlace:
    """The inverse of `str(place)`. Refused (code `place`) says how a place is written."""
    surface, _, rest = text.partition("/")
    connector, _, rest = rest.partition("/")
    owner, slash, name = rest.rpartition("/")
    found = {"surface": surface, "connector": connector, "name": name, "owner": _owner(owner) if slash else None}
    try:
        return SecretPlace.model_validate(found)
    except ValidationError:
        raise Refused(
            f"{text[:100]!r} names no place of a secret: write {FORM}; surfaces are {', '.join(ASKERS)}, names are lower case",
            code="place",
        ) from None


def _owner(text: str) -> Owner | None:
    kind, _, id_ = text.partition(":")
    try:
        return Owner.model_validate({"kind": kind, "id": id_})
    except ValidationError:
        raise Refused(f"{text[:100]!r} is no owner: write user:ID or guest:ID", code="place") from None
