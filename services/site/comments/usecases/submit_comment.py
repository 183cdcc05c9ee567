"""A visitor's words go to the lock, where a person looks at them first. Nothing of them is kept here."""

from schemas.content import ItemContent
from schemas.model import Actor
from schemas.site.v1 import CommentSubmitted
from schemas.text import sha256
from services.site.comments.domain import place_of
from services.site.publication.domain import Published
from shared.db import Tx
from shared.ids import item_id, new_id


async def submit_comment(tx: Tx, item: Published, visitor: str, content: ItemContent) -> None:
    """A comment is for whoever the item is for. Who wrote it is a pseudonym of the day, and the name that they gave."""
    raw, path = content.to_bytes(), place_of(item.item_id, visitor, content)
    comment_id = item_id("comment", item.lang, path)
    data = CommentSubmitted(
        submission_id=new_id(),
        item_id=comment_id,
        lang=item.lang,
        path=path,
        audience=item.audience,
        content=raw,
        content_hash=sha256(raw),
        submitted_by=Actor(id=f"visitor:{visitor}", name=content.title, via="visitor"),
    )
    tx.stage("comment.submitted", data, key=str(comment_id), version=1)
