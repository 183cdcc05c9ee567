"""The agent proposes an item; it waits in the queue for a person like any other (rule 20)."""

from uuid import UUID

from services.agent import store
from services.agent.domain import AGENT, Draft, make_proposal, mend
from shared.db import Tx
from shared.markup import parse_source


async def propose_item(tx: Tx, kind: str, lang: str, path: str, source: str) -> UUID:
    """`source` is Markdown, with front matter or a heading for its title. Returns the item's id."""
    read = parse_source(mend(source).replace("\r\n", "\n"))
    draft = Draft(kind, lang, path, read.title, read.summary, read.body, form=read.form, comments=read.comments)
    proposal = make_proposal(draft)
    version = await store.next_version(tx, proposal.item_id)
    tx.stage("item.proposed", proposal, key=str(proposal.item_id), version=version, actor=AGENT.id)
    return proposal.item_id
