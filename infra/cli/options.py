"""What every command shares: its options and how it prints."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

DEFAULT_STATE = Path(".schleuse")

State = Annotated[Path, typer.Option("--state", help="State directory.", metavar="DIR")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

OK, FAILED, REFUSED, NOT_RUNNING = 0, 1, 2, 3
"""Exit codes: done; failed, or a difference was found; wrong usage or refused; nothing is running."""


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def complain(text: str) -> None:
    sys.stderr.write(f"schleuse: {printable(text)}\n")


def counted(number: int, noun: str) -> str:
    """`1 item`, `3 items`; for nouns that take an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def printable(text: str) -> str:
    """What others wrote, for a terminal: nothing in it moves the cursor, hides text or turns its order."""
    return "".join([char if char.isprintable() or char == "\n" else "\ufffd" for char in text])
