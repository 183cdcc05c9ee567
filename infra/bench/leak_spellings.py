"""Ways of writing a value so that a search for it fails, and a reader still reads it."""

import re
from collections.abc import Callable
from urllib.parse import quote

_CYRILLIC = str.maketrans("aeopcxABEMOT", "аеорсхАВЕМОТ")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "capitals": str.upper,
    "small letters": str.lower,
    "other capitals": str.swapcase,
    "entities": lambda value: "".join(f"&#{ord(char)};" if char.isalnum() else char for char in value),
    "spaces": lambda value: value.replace(" ", "  \u00a0"),
    "lines": lambda value: value.replace(" ", "\n"),
    "hyphens": lambda value: value.replace(" ", "-"),
    "digits": lambda value: re.sub(r"\d{2}(?=\d)", lambda found: found[0] + "\u202f", value),
    "dots": lambda value: re.sub(r"\d{3}(?=\d)", lambda found: found[0] + ".", value),
    "unseen": "\u200b".join,
    "look-alikes": lambda value: value.translate(_CYRILLIC),
    "wide": lambda value: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in value),
    "umlauts": lambda value: value.translate(_UMLAUTS),
    "bold": lambda value: f"{value[: len(value) // 2]}**{value[len(value) // 2 :]}**",
    "tags": lambda value: f"{value[: len(value) // 2]}<b></b>{value[len(value) // 2 :]}",
    "address": lambda value: f"https://example.org/?q={quote(value)}",
}
