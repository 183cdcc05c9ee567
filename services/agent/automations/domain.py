"""What an automation is asked for with, and what a run of one has brought. Pure."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from pydantic import Field

from services.agent.builtin.talk import NOT_UNDERSTOOD
from services.agent.conversations.domain import ToolCall, TurnRecord
from services.agent.tasks.domain import Misfire, Overlap
from services.agent.tools.domain import Arguments

APP = "automation"
"""What the ledger and a turn's record say of how it came about."""
LONGEST_RUN = timedelta(hours=1)
"""Rule 31."""
LONGEST_TITLE, LONGEST_WORDS, LONGEST_INSTRUCTION = 200, 500, 16 * 1024
KEPT_TALKS = 30
"""Conversations of an automation's runs; older ones go, what its runs brought stays."""
NO_SOURCE = "it could read none of its sources"
READERS = frozenset({
    "email_folders", "email_search", "email_read", "read_page", "read_shared", "list_shared", "read_file", "list_files", "list_folder", "search_files",
    "search_lessons", "search_conversations", "recall", "use_connector",
})  # fmt: skip
"""Tools by which something is read that a run may be about."""


class AutomationArguments(Arguments):
    """`when`: in words, such as "every morning at 7". `instruction`: what to do then, as it would be said in the chat. `reads`: it needs something that is
    read, mails or a page; a run that can read nothing has then failed. The rest is worked out from `when`, and stands so on the card."""

    title: str = Field(min_length=1, max_length=LONGEST_TITLE)
    when: str = Field(min_length=1, max_length=LONGEST_WORDS)
    instruction: str = Field(min_length=1, max_length=LONGEST_INSTRUCTION)
    reads: bool = False
    overlap: Overlap = "skip"
    misfire: Misfire = "latest"
    notify: bool = True
    zone: str = Field(default="", max_length=64, description="Leave this empty.")
    rule: dict[str, Any] = Field(default_factory=dict, description="Leave this empty.")
    words: str = Field(default="", max_length=2000, description="Leave this empty.")
    next: tuple[str, ...] = Field(default=(), max_length=10, description="Leave this empty.")


def fault_of(record: TurnRecord, *, reads: bool) -> str:
    """Why a turn that ran counts as a failed run, in words; empty when it does not. Nothing that could be read is not nothing that was there (rule 30)."""
    if record.outcome != "ok":
        return record.error or f"it was {record.outcome}"
    tried = [each for each in record.calls if each.tool in READERS]
    if (tried or reads) and not any(each.state == "done" for each in tried):
        return f"{NO_SOURCE}{_why(tried)}"
    if record.reply.startswith(NOT_UNDERSTOOD):
        return (
            "the built-in model did not understand the instruction; ask for it in words that it understands in the chat"
        )
    return "" if record.reply.strip() or record.calls else "it brought nothing"


def _why(tried: Sequence[ToolCall]) -> str:
    if not tried:
        return ": it tried none"
    return "; ".join(["", *dict.fromkeys(f"{each.tool}: {each.shown or each.state}" for each in tried)])[:1000]
