"""The account's own password in what its server tells: masked, like every credential that comes back (masking.py), and noted."""

import base64
from typing import Any

from services.connectors.kinds.masking import Mask

SHORTEST = 8
"""Characters of a password that is looked for. People choose shorter ones among words, and words stand in mails."""


def masked(found: Any, password: str) -> tuple[Any, bool]:
    """(the same with `*` in place of each spelling of the password, whether there was one). An attachment's content is looked at decoded."""
    if len(password) < SHORTEST:
        return found, False
    mask = Mask([password])
    return _masked(found, mask), mask.found


def _masked(found: Any, mask: Mask) -> Any:
    match found:
        case str():
            return mask.whole(found.encode()).decode("utf-8", "replace")
        case list():
            return [_masked(each, mask) for each in found]
        case dict():
            return {
                name: _content(each, mask) if name == "content" else _masked(each, mask) for name, each in found.items()
            }
    return found


def _content(encoded: str, mask: Mask) -> str:
    return base64.b64encode(mask.whole(base64.b64decode(encoded))).decode()
