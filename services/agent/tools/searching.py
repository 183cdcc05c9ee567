"""Search in the owner's own conversations. What was said in a tainted one may be somebody else's words, and taints who reads it (S11)."""

from pydantic import Field

from services.agent.conversations.domain import Conversations
from services.agent.tools.domain import EVERYBODY, Arguments, Asked, Found, Tool

LONGEST = 600
"""Characters of a message that are shown."""


class SearchArguments(Arguments):
    """`words`: all must occur, in any case; what stands in quotes occurs exactly."""

    words: str = Field(min_length=1, max_length=500)
    limit: int = Field(default=10, ge=1, le=50)


class SearchTool:
    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    async def search(self, asked: Asked, given: SearchArguments) -> Found:
        """Newest first; this turn's own message is none of them."""
        hits = await self._conversations.search(asked.me, given.words, given.limit + 1)
        others = [(place, message) for place, message in hits if message.turn_id != asked.turn_id][: given.limit]
        found = [
            {"title": place.title, "conversation": str(place.conversation_id), "at": message.at.isoformat(timespec="minutes"), "by": message.part, "text": message.text[:LONGEST]}
            for place, message in others
        ]  # fmt: skip
        sources = tuple(dict.fromkeys(source for place, _ in others for source in place.tainted))
        return Found({"found": found}, f"{len(found)} messages", sources)


def make_tools(conversations: Conversations) -> tuple[Tool, ...]:
    about = "Search the user's own conversations for words. Newest first."
    return (Tool("search_conversations", about, SearchArguments, SearchTool(conversations).search, EVERYBODY),)
