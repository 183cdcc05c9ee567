"""Events of the agent."""

from uuid import UUID

from schemas.model import Actor, Audience, Bytes64, Data, Hash, Kind, Lang, Slug


class ItemProposed(Data):
    """The agent proposes an item; it waits for a person like any other (rule 20)."""

    submission_id: UUID
    item_id: UUID
    kind: Kind
    lang: Lang
    path: Slug
    audience: Audience = "public"
    content: Bytes64
    content_hash: Hash
    submitted_by: Actor
