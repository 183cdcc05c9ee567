"""Whether what a visitor wrote can wait as a comment: about a published item, for the same readers, words alone, and not too many."""

from schemas.content import ItemContent
from schemas.site.v1 import CommentSubmitted
from services.bridge import store
from shared.db import Database

LONGEST = 4000
"""Characters of a comment (rule 25)."""
LONGEST_NAME = 80
PER_MINUTE = 30
"""Comments of one visitor that are taken within a minute; the site refuses them before."""
MOST_WAITING = 10_000
"""Undecided comments that may wait: nobody fills the queue from outside beyond what people can clear by one word."""


async def check_comment(db: Database, data: CommentSubmitted, content: ItemContent) -> str:
    """Why it is refused; nothing when it can wait."""
    fault = fault_of(data, content)
    if fault or content.about is None:
        return fault
    async with db.reading() as tx:
        audience = await store.published_to(tx, content.about)
        lately, waiting = await store.comments_of(tx, data.submitted_by.id)
    if audience is None:
        return "the item that it is about is not published"
    if audience != data.audience:
        return f"the item that it is about is for {audience}"
    if lately >= PER_MINUTE:
        return f"this visitor has sent {lately} comments within a minute"
    return f"{waiting} comments wait already" if waiting >= MOST_WAITING else ""


def fault_of(data: CommentSubmitted, content: ItemContent) -> str:
    """What can be seen without a look at the item."""
    if content.about is None or not data.path.startswith(f"{content.about}/"):
        return "a comment names the item that it is about, and lies under it"
    if content.attachments or content.form or content.summary:
        return "a comment is a name and a text, nothing more"
    if len(content.body) > LONGEST or not content.body.strip():
        return f"a comment has 1 to {LONGEST} characters"
    return "" if len(content.title) <= LONGEST_NAME else f"the name has more than {LONGEST_NAME} characters"
