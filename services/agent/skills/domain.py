"""What a skill is called and what it is for, from its first lines. Pure."""

from dataclasses import dataclass

FOLDER = "skills"
ENDING = ".md"
MOST = 30
"""Skills that a model is told of."""
READ, LONGEST = 2048, 200
"""Bytes of a file that are looked at, and characters of what it says that it is for."""


@dataclass(frozen=True)
class Skill:
    """`about`: the first words under its heading, or the heading, or nothing."""

    path: str
    about: str


def about(text: str) -> str:
    """A front matter's `description`, else the first line that is no heading, else the heading."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = next((line for line in lines[:20] if line.lower().startswith("description:")), "")
    if lines[:1] == ["---"] and named:
        return _line(named.partition(":")[2])
    plain = next((line for line in lines if not line.startswith(("#", "---"))), "")
    return _line(plain or (lines[0].lstrip("# ") if lines else ""))


def _line(text: str) -> str:
    return " ".join(text.strip(" \"'").split())[:LONGEST]


def told(skills: list[Skill], left_out: int) -> str:
    listed = [f"- {each.path}: {each.about}" if each.about else f"- {each.path}" for each in skills]
    return "\n".join([*listed, *([f"({left_out} more in {FOLDER}/)"] if left_out else [])])
