"""An item's content: what is hashed, reviewed and rendered. Its canonical bytes travel; nobody re-serialises them."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.model import Data, Line, Text
from schemas.text import BadJson, canonical, parse_json


class ItemContent(Data):
    """The allow-list of fields that the site may read (architecture 2). Markdown body without its front matter."""

    format: Literal["markdown"] = "markdown"
    title: Annotated[Line, Field(min_length=1)]
    summary: Line = ""
    body: Text

    def to_bytes(self) -> bytes:
        return canonical(self.model_dump(mode="json"))

    @classmethod
    def from_bytes(cls, raw: bytes) -> "ItemContent":
        """Read content bytes; BadJson or ValidationError when they are anything but canonical allow-listed fields."""
        found = cls.model_validate(parse_json(raw))
        if found.to_bytes() != raw:
            raise BadJson("the content is not in canonical form")
        return found
