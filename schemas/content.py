"""An item's content: what is hashed, reviewed and rendered. Its canonical bytes travel; nobody re-serialises them."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from schemas.model import MAX_ATTACHMENT, MAX_ATTACHMENTS, Data, Hash, Line, Text
from schemas.text import BadJson, canonical, parse_json

FileName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^/\\\x00-\x1f\x7f]+$")]
FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Attachment(Data):
    """A file or picture that belongs to an item. `hash` is the SHA-256 of its exact bytes, which travel apart (rule 5).

    `alt`: what a picture shows, in words. `width`, `height`: pixels, pictures only.
    """

    name: FileName
    media_type: Annotated[str, Field(pattern=r"^[a-z]+/[a-z0-9.+-]{1,80}$")]
    size: Annotated[int, Field(ge=1, le=MAX_ATTACHMENT)]
    hash: Hash
    alt: Line = ""
    width: Annotated[int, Field(ge=1, le=20000)] | None = None
    height: Annotated[int, Field(ge=1, le=20000)] | None = None


class FormField(Data):
    """One field that a visitor fills in. `choices` for `choice` alone; `longest` in characters."""

    name: FieldName
    label: Annotated[Line, Field(min_length=1)]
    kind: Literal["text", "long", "email", "number", "date", "choice", "tick"] = "text"
    required: bool = False
    choices: Annotated[tuple[Line, ...], Field(max_length=50)] = ()
    longest: Annotated[int, Field(ge=1, le=4000)] = 500

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if (self.kind == "choice") != bool(self.choices):
            raise ValueError("a field of kind choice has choices, and no other has")
        return self


class Form(Data):
    """A form under an item (contact, sign-up). What becomes of its answers is known to the console alone."""

    name: FieldName
    fields: Annotated[tuple[FormField, ...], Field(min_length=1, max_length=30)]
    button: Line = ""
    thanks: Line = ""

    @model_validator(mode="after")
    def _names_each_field_once(self) -> Self:
        if len({field.name for field in self.fields}) != len(self.fields):
            raise ValueError("each field has a name of its own")
        return self


class ItemContent(Data):
    """The allow-list of fields that the site may read (architecture 2). Markdown body without its front matter.

    `about`: the item that a comment is about. `comments`: closed, or open to visitors while it says nothing. Fields that came later are left out of the canonical bytes while they are empty, so that
    what was signed before they were there reads the same.
    """

    format: Literal["markdown"] = "markdown"
    title: Annotated[Line, Field(min_length=1)]
    summary: Line = ""
    body: Text
    attachments: Annotated[tuple[Attachment, ...], Field(max_length=MAX_ATTACHMENTS)] = ()
    form: Form | None = None
    about: UUID | None = None
    comments: Literal["", "closed"] = ""

    def to_bytes(self) -> bytes:
        fields = self.model_dump(mode="json")
        return canonical({name: value for name, value in fields.items() if value or name not in LATER})

    @classmethod
    def from_bytes(cls, raw: bytes) -> "ItemContent":
        """Read content bytes; BadJson or ValidationError when they are anything but canonical allow-listed fields."""
        found = cls.model_validate(parse_json(raw))
        if found.to_bytes() != raw:
            raise BadJson("the content is not in canonical form")
        return found


LATER = ("attachments", "form", "about", "comments")
