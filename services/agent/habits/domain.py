"""What an owner taught the agent: how to be (behavior), and requests that they stored under a name (virtual tools)."""

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.agent.domain import mend
from shared.errors import Refused

HEADING = "How the user wants you to be"
"""What stands over the behavior where it goes before a turn."""
MOST_BEHAVIOR = 8 * 1024
"""Characters of a behavior: it goes before every turn."""
MOST_TOOLS = 50
"""Virtual tools of one owner."""
MOST_PROMPT = 8 * 1024
DEEPEST = 3
"""Virtual tools that run in one another, at most."""
MOST_RUNS = 10
"""Virtual tools that one turn may run, nested ones included."""
MOST_REQUESTS = 6
"""Requests to the model that one run of a virtual tool may make."""
INPUT = "{input}"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True)
class Origin:
    """The turn that changed it, and what untrusted text that conversation had read (S11)."""

    conversation_id: UUID | None = None
    turn_id: UUID | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Behavior:
    """One state of an owner's behavior. `before`: the version that an undo goes back to; 0 is the empty one that everybody begins with."""

    version: int = 0
    text: str = ""
    before: int = 0
    sources: tuple[str, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True)
class VirtualTool:
    """A stored request. `prompt` is what is asked, with the input where it says {input}, else after it."""

    name: str
    description: str
    prompt: str
    input_hint: str = ""
    enabled: bool = True
    sources: tuple[str, ...] = ()
    flagged: bool = False

    def filled(self, given: str) -> str:
        """The request with its input. The input is put in once: an {input} in it stays as it is."""
        if INPUT in self.prompt:
            return self.prompt.replace(INPUT, given)
        return f"{self.prompt}\n{given}".strip() if given else self.prompt


def added_to(old: str, line: str) -> str:
    """The behavior with one more line; the same line again stands once, at the end."""
    kept = [each for each in old.splitlines() if each.strip() and each != line]
    return "\n".join([*kept, line])


def checked_behavior(text: str) -> str:
    """Refused when it is too long; white space around it is nothing."""
    found = mend(text).strip()
    if len(found) > MOST_BEHAVIOR:
        raise Refused(
            f"a behavior has at most {MOST_BEHAVIOR:,} characters, this one has {len(found):,}", code="too_long"
        )
    return found


def checked_tool(tool: VirtualTool, taken: frozenset[str]) -> VirtualTool:
    """As it can be kept. Refused (code `name`, `shadow`, `prompt`). `taken`: names of the agent's own tools."""
    if not _NAME.fullmatch(tool.name):
        raise Refused(
            f"“{tool.name[:64]}” is no name of a tool: a small letter, then small letters, digits and _, 64 at most",
            code="name",
        )
    if tool.name in taken:
        raise Refused(f"“{tool.name}” is a tool of the agent itself; choose another name", code="shadow")
    if not tool.prompt.strip():
        raise Refused("a tool needs a text that says what it does", code="prompt")
    given = {name: str(getattr(tool, name)) for name in ("description", "prompt", "input_hint")}
    fields = {name: mend(each).strip() for name, each in given.items()}
    flagged = any(mend(each) != each for each in given.values())
    return VirtualTool(tool.name, **fields, enabled=tool.enabled, sources=tool.sources, flagged=flagged)
