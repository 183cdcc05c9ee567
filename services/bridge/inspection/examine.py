"""All checks over one submission; the order and number of what the reviewer gets to see."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from markdown_it.token import Token

from schemas.bridge.v1 import Finding
from services.bridge.inspection.checks import active, files, internal, links, own_secrets, personal, secrets
from services.bridge.inspection.checks import hidden as unseen
from services.bridge.inspection.checks.internal import InternalColumns
from services.bridge.inspection.checks.own_secrets import OwnSecrets
from services.bridge.inspection.order import MOST, cut
from shared.markup.parser import parse

NAMED = "names of the attachments"


def examine(
    job: dict[str, Any], own: OwnSecrets | None = None, columns: InternalColumns | None = None
) -> list[Finding]:
    """Findings for `title`, `summary`, `body` and, where there is one, `prior_body` (the approved revision's).

    block first, then check, then note, each by line; at most 100, the last of which says that there are more. `own`: what is known of
    our own secrets; None where the caller blocks for not knowing it; `columns`: of internal values, likewise. `known_only`: looks for nothing
    else, for an approval of what was inspected before.
    """
    if "attachment" in job:
        return _examine_file(job, own, columns)
    body, prior = job["body"], job.get("prior_body")
    texts = {"title": job["title"], "summary": job["summary"], NAMED: job.get("named", ""), "": body}
    tokens = parse(body)
    values, hidden = set[str](), set[str]()
    found = [*own_secrets.check(own, texts, tokens, hidden)] if own else []
    found += _internal(columns, texts, tokens)
    if job.get("known_only"):
        return cut(_redacted(found, values, hidden))
    for where, text in texts.items():
        found += [_placed(each, where) for each in _of_text(text, values)]
    found += islice(active.check(tokens), MOST + 1)
    found += links.check(tokens, parse(prior) if prior else None)
    if prior is not None and prior != body and prior.split() == body.split():
        found.append(
            Finding(
                level="note",
                rule="whitespace_only",
                message="Only spaces and line breaks differ from the approved revision",
            )
        )
    return cut(_redacted(found, values, hidden))


def _examine_file(job: dict[str, Any], own: OwnSecrets | None, columns: InternalColumns | None) -> list[Finding]:
    """Of one attachment: what it is, and what its text says. It goes through the same checks as any text."""
    opened = files.open_file(job["attachment"])
    texts = {opened.place: opened.text}
    values, hidden = set[str](), set[str]()
    found = [*own_secrets.check(own, texts, [], hidden)] if own else []
    found += _internal(columns, texts, [])
    if job.get("known_only"):
        return cut(_redacted(found, values, hidden))
    found += [*opened.findings, *(_placed(each, opened.place) for each in _of_text(opened.text, values))]
    return cut(_redacted(found, values, hidden))


def _internal(columns: InternalColumns | None, texts: Mapping[str, str], tokens: Sequence[Token]) -> list[Finding]:
    if columns is None:
        return []
    return [_placed(each, where) for where, each in internal.check(columns, texts, tokens)]


def _of_text(text: str, values: set[str]) -> Iterator[Finding]:
    for findings in (secrets.private_keys(text), personal.check(text), unseen.check(text)):
        yield from islice(findings, MOST + 1)
    yield from secrets.check(text, values)


def _placed(finding: Finding, where: str) -> Finding:
    """Lines are the body's; of an attachment the line stands in the message."""
    if not where:
        return finding
    line = f", line {finding.line}" if finding.line and where.startswith(files.PLACE) else ""
    return finding.model_copy(update={"line": None, "message": f"In the {where}{line}: {finding.message}"[:500]})


def _redacted(found: list[Finding], values: set[str], hidden: set[str]) -> Iterator[Finding]:
    """No finding of any check carries a secret that another check found. Messages about secrets quote nothing; of our own, `hidden`, no
    character is shown."""
    masks = {value: secrets.masked(value) for value in values} | dict.fromkeys(hidden, "…")
    longest_first = sorted(masks, key=len, reverse=True)
    for each in dict.fromkeys(found):
        message, excerpt = each.message, each.excerpt
        if hidden and each.rule == "secret":
            excerpt = ""
        for value in () if each.rule in ("secret", "private_key", "own_secret") else longest_first:
            message, excerpt = (text.replace(value, masks[value]) for text in (message, excerpt))
        for value in hidden:
            excerpt = _without_edges(excerpt, value)
        yield each.model_copy(update={"message": _seen(message)[:500], "excerpt": _seen(excerpt)[:120]})


def _without_edges(excerpt: str, value: str) -> str:
    """An excerpt may begin or end within a value."""
    for length in range(min(len(value), len(excerpt)), 3, -1):
        if excerpt.endswith(value[:length]):
            excerpt = f"{excerpt[:-length]}…"
        if excerpt.startswith(value[-length:]):
            excerpt = f"…{excerpt[length:]}"
    return excerpt


def _seen(text: str) -> str:
    """What a text quotes must not turn the order of the reviewer's page or hide in it."""
    return "".join([char if char.isprintable() else "\ufffd" for char in text])
