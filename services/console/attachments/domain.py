"""What a revision's content says of its attachments. Pure."""

from schemas.content import ItemContent

_NAMED = b'"attachments":['


def hashes_in(content: bytes) -> tuple[str, ...]:
    """In the content's order; nothing is parsed of the many contents that have none."""
    return tuple(each.hash for each in ItemContent.from_bytes(content).attachments) if _NAMED in content else ()
