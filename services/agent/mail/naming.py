"""Under which name an attachment is put into the workspace. What a mail calls it is a wish of its sender's. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from services.agent.mail.arguments import SaveArguments
from services.agent.memory.names import check_new, is_mixed
from shared.errors import Refused

FOLDER = "mail"
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")


def place_for(given: SaveArguments, found: Mapping[str, Any]) -> str:
    """What the user or the model asked for, else its own name where that does, else `attachment-N` with its ending."""
    if given.path:
        return f"{given.path}{_own(given, found)}" if given.path.endswith("/") else given.path
    return f"{FOLDER}/{_own(given, found)}"


def _own(given: SaveArguments, found: Mapping[str, Any]) -> str:
    name = str(found.get("name") or "").strip()
    try:
        if name and not is_mixed(name) and len(check_new(f"{FOLDER}/{name}")) == 2:
            return name
    except Refused:
        pass
    ending = _ENDING.search(name)
    return f"attachment-{given.number}{ending[0] if ending else ''}"
