"""What the agent can do towards the public: propose, and say what became of it. There is no tool that publishes, decides or opens anything."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from pydantic import ConfigDict, Field

from schemas.model import MAX_CONTENT, Audience, PageKind
from services.agent.domain import Draft, mend
from services.agent.proposals import store
from services.agent.proposals.domain import MAY_LOOK, STAFF
from services.agent.proposals.usecases.propose_publication import propose_publication
from services.agent.tools.domain import Arguments, Asked, Found, Tool
from shared.db import Database

MOST = 50


class ProposeArguments(Arguments):
    """`path`: segments joined by `/`, without spaces. `body`: Markdown."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=MAX_CONTENT)

    kind: PageKind = "page"
    lang: str = Field(default="en", max_length=35)
    path: str = Field(min_length=1, max_length=300)
    title: str = Field(min_length=1, max_length=300)
    summary: str = Field(default="", max_length=1000)
    body: str = Field(min_length=1)
    audience: Audience = "public"


class ListArguments(Arguments):
    """One's own proposals, the newest first."""

    limit: int = Field(default=10, ge=1, le=MOST)


class ProposalTools:
    """`may_propose` reads the switch. `console_url`: where the queue is."""

    def __init__(self, db: Database, may_propose: Callable[[], bool], console_url: str) -> None:
        self._db, self._may_propose, self._console_url = db, may_propose, console_url

    async def propose(self, asked: Asked, given: ProposeArguments) -> Found:
        fields = {name: mend(str(value)) for name, value in given.model_dump().items()}
        async with self._db.owned(asked.me.owner) as tx:
            proposal = await propose_publication(
                tx, asked.me, asked.conversation_id, Draft(**fields), may_propose=self._may_propose(), turn_id=asked.turn_id
            )
        place = f"{proposal.kind}/{proposal.lang}/{proposal.path}"
        link = self._link(proposal.item_id)
        what = {"item": place, "item_id": str(proposal.item_id), "state": "handed_in", "link": link}
        next_step = "It waits in the console's queue until a person decides; nothing is public before. The outcome is told here."
        return Found(what | {"next": next_step}, f"proposed {place}")

    async def listed(self, asked: Asked, given: ListArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            rows = await store.listed(tx, asked.me.owner, given.limit)
        return Found({"proposals": [self._told(row) for row in rows]}, f"{len(rows)} proposals")

    def _told(self, row: Any) -> dict[str, Any]:
        moved = row["moved_at"] or row["proposed_at"]
        place = f"{row['kind']}/{row['lang']}/{row['path']}"
        told = {"item": place, "title": row["title"], "state": row["state"], "reason": row["reason"]}
        return told | {"at": moved.isoformat(timespec="seconds"), "link": self._link(row["item_id"])}

    def _link(self, item_id: UUID) -> str:
        return f"{self._console_url}/queue/{item_id}"


def make_tools(db: Database, may_propose: Callable[[], bool], console_url: str) -> tuple[Tool, ...]:
    mine = ProposalTools(db, may_propose, console_url)
    return (
        Tool(
            "propose_publication",
            "Propose a text for the public site (or for members). It goes into the console's queue and waits for a person;"
            " nothing becomes public by this. The only way to the public there is: console data is never opened itself.",
            ProposeArguments,
            mine.propose,
            STAFF,
            writes="propose",
            own=False,
        ),
        Tool(
            "list_proposals",
            "What the user proposed for publication through you, and what became of it.",
            ListArguments,
            mine.listed,
            MAY_LOOK,
        ),
    )
