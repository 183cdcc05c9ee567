"""What the agent can do towards the public: propose, and say what became of it. There is no tool that publishes, decides or opens anything."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

from pydantic import ConfigDict, Field

from schemas.model import MAX_ATTACHMENTS, MAX_CONTENT, Audience, PageKind
from services.agent.domain import Draft, mend
from services.agent.files.kept import Files
from services.agent.owners.domain import Me
from services.agent.proposals import store
from services.agent.proposals.domain import MAY_LOOK, STAFF
from services.agent.proposals.usecases.propose_publication import propose_publication
from services.agent.tools.domain import Arguments, Asked, Found, Tool
from shared.attaching import Prepared, prepare
from shared.db import Database
from shared.errors import Refused, TooLarge

MOST = 50
MOST_ATTACHED = 20 * 1024 * 1024
"""Bytes of a file before it is made ready."""


class ProposeArguments(Arguments):
    """`path`: segments joined by `/`, without spaces. `body`: Markdown. `attachments`: files of the workspace; the body shows a picture by its name."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=MAX_CONTENT)

    kind: PageKind = "page"
    lang: str = Field(default="en", max_length=35)
    path: str = Field(min_length=1, max_length=300)
    title: str = Field(min_length=1, max_length=300)
    summary: str = Field(default="", max_length=1000)
    body: str = Field(min_length=1)
    audience: Audience = "public"
    attachments: tuple[str, ...] = Field(default=(), max_length=MAX_ATTACHMENTS)


class ListArguments(Arguments):
    """One's own proposals, the newest first."""

    limit: int = Field(default=10, ge=1, le=MOST)


class ProposalTools:
    """`may_propose` reads the switch. `console_url`: where the queue is."""

    def __init__(
        self, db: Database, may_propose: Callable[[], bool], console_url: str, files: Files | None = None
    ) -> None:
        self._db, self._may_propose, self._console_url, self._files = db, may_propose, console_url, files

    async def propose(self, asked: Asked, given: ProposeArguments) -> Found:
        fields: dict[str, Any] = {
            name: mend(str(value)) for name, value in given.model_dump(exclude={"attachments"}).items()
        }
        attached = await self._attached(asked.me, given)
        fields["attachments"] = attached.attachments
        async with self._db.owned(asked.me.owner) as tx:
            proposal = await propose_publication(
                tx,
                asked.me,
                asked.conversation_id,
                Draft(**fields),
                may_propose=self._may_propose(),
                turn_id=asked.turn_id,
                data=attached.data,
            )
        place = f"{proposal.kind}/{proposal.lang}/{proposal.path}"
        link = self._link(proposal.item_id)
        what = {"item": place, "item_id": str(proposal.item_id), "state": "handed_in", "link": link}
        next_step = "It waits in the console's queue until a person decides; nothing is public before. The outcome is told here."
        return Found(what | {"next": next_step}, f"proposed {place}")

    async def _attached(self, me: Me, given: ProposeArguments) -> Prepared:
        """The files that were named, made ready: pictures anew, without what else was in them. NotFound, Refused, TooLarge."""
        if not given.attachments:
            return Prepared()
        if self._files is None:
            raise Refused("There is no workspace here to take files from.", code="attachments")
        taken: list[tuple[str, bytes]] = []
        for path in given.attachments:
            with await self._files.open(me, path) as found:
                if found.size > MOST_ATTACHED:
                    raise TooLarge(
                        f"{path} has {found.size >> 20} MiB; what is attached has at most {MOST_ATTACHED >> 20} MiB"
                    )
                taken.append((path.rsplit("/", 1)[-1], b"".join([piece async for piece in found.pieces()])))
        return await asyncio.to_thread(prepare, taken, given.body)

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


def make_tools(
    db: Database, may_propose: Callable[[], bool], console_url: str, files: Files | None = None
) -> tuple[Tool, ...]:
    mine = ProposalTools(db, may_propose, console_url, files)
    return (
        Tool(
            "propose_publication",
            "Propose a text for the public site (or for members), with files of the workspace where wanted. It goes into the console's queue and waits for a person;"
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
