"""How the file is written: blocks and values."""

from pathlib import Path

from shared.errors import Refused

FORBIDDEN = set("\"'\\;{}$# \t\r\n")


def block(head: str, *lines: str) -> list[str]:
    return [f"{head} {{", *(f"  {line}" for line in lines), "}"]


def literal(value: str | Path) -> str:
    """A value as it is. Refused when nginx would read something else into it."""
    text = str(value)
    if not text or FORBIDDEN & set(text):
        raise Refused(f"{text!r} cannot stand in nginx.conf; use a name without spaces, quotes and $ ; {{ }} #")
    return text
