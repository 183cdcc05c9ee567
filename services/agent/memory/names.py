"""What a new file or folder may be called, beyond what could mean another place (`domain.check_path`): no name that another system takes for a
device, none of ours, none that looks like a path or like a name that is there already (rule 14). Pure."""

import re
import unicodedata

from services.agent.memory.domain import EVERYWHERE, KEPT_BY_US, check_path
from shared.errors import Refused

DOCS = "docs"
"""The product's own documentation, which is read here and lies elsewhere."""
_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL)
_LIKE_A_SLASH = frozenset("⁄∕⧸／╱∖⧵⧹＼﹨")
_ALIKE = str.maketrans(
    "АВЕКМНОРСТУХЅІЈаеорсухіјѕһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοıɡ‐‑‒–—−’‘ʼ",
    "ABEKMHOPCTYXSIJaeopcyxijshdqwABEZHIKMNOPTYXoig------'''",
)
"""Letters and marks that nobody tells from each other: Cyrillic, Greek, and kinds of dashes and apostrophes."""


def check_new(name: str) -> tuple[str, ...]:
    """A path for something new, as segments in NFC. Refused, with the reason."""
    parts = check_path(name)
    for part in parts:
        if fault := _fault(part):
            raise Refused(f"{part[:80]!r} cannot be the name of a file or folder here: {fault}. Choose another.", code="name")  # fmt: skip
    check_ours(parts)
    return parts


def check_ours(parts: tuple[str, ...]) -> None:
    """Refused for what is written by others: the agent's memory and progress, and the documentation."""
    first = alike(parts[0]).casefold()
    if len(parts) == 1 and first in KEPT_BY_US:
        raise Refused(f"{parts[0]} is written by tools of its own.", code="name")
    if first == DOCS:
        raise Refused(f"{DOCS}/ holds the product's documentation; it can be read and not changed.", code="name")


def check_file(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The same path. Refused for a file under the name of a folder that every workspace has: nothing could be put into that any more."""
    if len(parts) == 1 and alike(parts[0]).casefold() in EVERYWHERE:
        raise Refused(f"{parts[0]} is the name of a folder in every workspace; no file is called so.", code="name")
    return parts


def alike(name: str) -> str:
    """The same for names that look the same."""
    return unicodedata.normalize("NFKC", name).translate(_ALIKE)


def is_mixed(name: str) -> bool:
    """Whether some word of it has Latin and Cyrillic or Greek letters, as names do that are to be taken for others."""
    return any(len({_script(char) for char in word} - {""}) > 1 for word in re.findall(r"[^\W\d_]+", name))


def _fault(part: str) -> str:
    if _LIKE_A_SLASH & set(part):
        return "it has a sign that looks like a slash"
    if unicodedata.normalize("NFKC", part).startswith("."):
        return "it would look as if it began with a dot"
    if part.endswith("."):
        return "it ends with a dot, which other systems drop"
    return "other systems take it for a device" if _DEVICES.fullmatch(part) else ""


def _script(char: str) -> str:
    name = unicodedata.name(char, "")
    return next((each for each in ("LATIN", "CYRILLIC", "GREEK") if name.startswith(each)), "")
