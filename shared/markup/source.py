"""A Markdown file as people write it: front matter, heading, body."""

from dataclasses import dataclass
from typing import Literal

import yaml

from schemas.content import Form
from schemas.text import text_fault
from shared.errors import Refused
from shared.markup.form_block import BadBlock, read_form
from shared.markup.parser import first_title

ALLOWED = ("title", "summary", "comments", "form")
LONGEST_FRONT = 8 * 1024
LONGEST_LINE = 500
_WHAT_TO_DO = "Write `title: …` and `summary: …` there, or, if the lines are not front matter, put an empty line before the first ---"


@dataclass(frozen=True)
class Source:
    """A document's title, summary (may be empty) and Markdown body without its front matter.

    `form`: what visitors can fill in under it. `comments`: `closed` when visitors cannot write any, else empty.
    """

    title: str
    summary: str
    body: str
    form: Form | None = None
    comments: Literal["", "closed"] = ""


def parse_source(text: str) -> Source:
    """Split a Markdown file. The title is the front matter's, else the first `# heading` without its markup.

    Refused with code `text` (NUL, lone surrogate), `front_matter` (line and what to do), `no_title` or `too_long`.
    """
    fault = text_fault(text)
    if fault:
        raise Refused(fault, code="text")
    front, body = _split(text.removeprefix("\ufeff"))
    fields, form = _fields(front) if front is not None else ({}, None)
    title = fields.get("title", "").strip() or first_title(body) or ""
    if not title:
        raise Refused(
            "the document needs a title: start it with a line `# Title`, or with front matter that has `title: …`",
            code="no_title",
        )
    summary = _line("summary", fields.get("summary", "").strip())
    return Source(_line("title", title), summary, body, form, _comments(fields.get("comments", "")))


def _comments(said: str) -> Literal["", "closed"]:
    if said not in ("", "open", "closed"):
        raise Refused(f"comments are open or closed, not {said[:40]!r}", code="front_matter")
    return "closed" if said == "closed" else ""


def _split(text: str) -> tuple[str | None, str]:
    """Front matter (None when there is none) and body. Only a first line of exactly `---` opens front matter."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip("\r\n") != "---":
        return None, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return "".join(lines[1:number]), "".join(lines[number + 1 :]).lstrip("\r\n")
    return None, text


def _fields(front: str) -> tuple[dict[str, str], Form | None]:
    if len(front) > LONGEST_FRONT:
        raise _refused(1, f"is longer than {LONGEST_FRONT // 1024} KiB")
    try:
        node = yaml.compose(front, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _refused(mark.line + 2 if mark else 1, f"is not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError):
        raise _refused(1, "is not YAML") from None
    if node is None:
        return {}, None
    if not isinstance(node, yaml.MappingNode):
        raise _refused(node.start_mark.line + 2, "is not a list of `key: value` lines")
    return _pairs(node)


def _pairs(node: yaml.MappingNode) -> tuple[dict[str, str], Form | None]:
    found: dict[str, str] = {}
    form: Form | None = None
    for key, value in node.value:
        line = key.start_mark.line + 2
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        if name not in ALLOWED:
            raise _refused(line, f"has the unknown key {name[:40]!r}; allowed are {' and '.join(ALLOWED)}")
        if name in found:
            raise _refused(line, f"names {name!r} twice")
        if name == "form":
            form, found[name] = _form(value), ""
            continue
        if not isinstance(value, yaml.ScalarNode):
            raise _refused(line, f"gives {name!r} something that is not text")
        found[name] = " ".join(value.value.split())
    return found, form


def _form(node: yaml.Node) -> Form:
    try:
        return read_form(node)
    except BadBlock as error:
        raise _refused(error.line, f"has a form that cannot be read: {error}") from None


def _refused(line: int, why: str) -> Refused:
    return Refused(f"line {line}: the front matter {why}. {_WHAT_TO_DO}", code="front_matter")


def _line(name: str, text: str) -> str:
    if len(text) > LONGEST_LINE:
        raise Refused(f"the {name} has {len(text)} characters; at most {LONGEST_LINE} are allowed", code="too_long")
    fault = text_fault(text)
    if fault:
        raise Refused(f"the {name}: {fault}", code="text")
    return text
