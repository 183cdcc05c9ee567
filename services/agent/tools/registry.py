"""All tools that there are. Which of them somebody may use is asked of each (`Tool.may`)."""

from collections import Counter
from collections.abc import Sequence

from services.agent.tools.domain import Tool


def tools(*parts: Sequence[Tool]) -> tuple[Tool, ...]:
    """Those of every part, by name. RuntimeError when two have the same."""
    found = sorted((tool for part in parts for tool in part), key=lambda tool: tool.name)
    twice = [name for name, count in Counter(tool.name for tool in found).items() if count > 1]
    if twice:
        raise RuntimeError(f"two tools are called {', '.join(twice)}")
    return tuple(found)
