"""After every important change a line in the owner's progress.md, whichever tool made it (architecture 5)."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from services.agent.memory.files import Workspaces
from services.agent.tools.domain import Asked, Found, Tool
from shared.errors import SchleuseError

ALSO = frozenset(
    {
        "write_file",
        "offer_download",
        "revoke_download",
        "create_reminder",
        "email_flag",
        "email_move",
        "email_save_attachment",
    }
)
"""Changes of the workspace and in a mailbox, which no card is for."""


OWN_WORDS = frozenset({"email_flag", "email_save_attachment"})
"""What these show of what they did holds no word from outside, although they read some."""


def noting(workspaces: Workspaces, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The same tools. What changes something says so in the owner's progress once it is done."""
    return tuple(_noted(workspaces, tool) if tool.writes or tool.name in ALSO else tool for tool in tools)


def _noted(workspaces: Workspaces, tool: Tool) -> Tool:
    async def run(asked: Asked, given: Any) -> Found:
        found = await tool.run(asked, given)
        with suppress(SchleuseError):  # what was done stands, with or without its line
            brought = () if tool.name in OWN_WORDS else found.sources
            sources = tuple(dict.fromkeys((*asked.tainted, *brought)))
            await workspaces.progress(asked.me, f"{tool.name}: {found.shown}", sources)
        return found

    return replace(tool, run=run)
