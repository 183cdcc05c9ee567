"""Where a tool of a tainted conversation asks for a person, and is told where the card is."""

from services.agent.actions.usecases.request_action import request_action
from services.agent.tools.domain import Arguments, Asked, Tool
from shared.clock import now
from shared.db import Database
from shared.errors import Refused


class ActionDesk:
    """`console_url`: where people decide. The chat shows the link, and nothing that decides (S5)."""

    def __init__(self, db: Database, console_url: str) -> None:
        self._db, self._console_url = db, console_url

    async def ask(self, asked: Asked, tool: Tool, arguments: Arguments) -> str:
        """The link to the card that waits; nothing is done until a person has allowed it.

        Refused for a guest (of whom nothing is kept that a card could change), and for what cannot be put into exact words.
        """
        if asked.me.is_guest:
            raise Refused(
                "This conversation has read untrusted text, and nobody can decide for a guest. Sign in, or begin a new conversation.",
                code="guest",
            )
        async with self._db.owned(asked.me.owner) as tx:
            card = await request_action(tx, asked, tool, arguments, now())
        return self.link(card.card_id)

    def link(self, card_id: object) -> str:
        return f"{self._console_url}/actions/{card_id}"
