"""All checks over one submission; the order and number of what the reviewer gets to see."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from schemas.bridge.v1 import Finding
from services.bridge.inspection.checks import active, links, own_secrets, personal, secrets
from services.bridge.inspection.checks import hidden as unseen
from services.bridge.inspection.checks.own_secrets import OwnSecrets
from shared.markup.parser import parse

MOST = 100
"""Findings that go with an item: with its content they must fit into one event (rule 5)."""
_RANK = {"block": 0, "check": 1, "note": 2}


def examine(job: dict[str, Any], own: OwnSecrets | None = None) -> list[Finding]:
    """Findings for `title`, `summary`, `body` and, where there is one, `prior_body` (the approved revision's).

    block first, then check, then note, each by line; at most 100, the last of which says that there are more. `own`: what is known of
    our own secrets; None where the caller blocks for not knowing it. `own_secrets_only`: for an approval, of what was inspected before.
    """
    body, prior = job["body"], job.get("prior_body")
    texts = {"title": job["title"], "summary": job["summary"], "": body}
    tokens = parse(body)
    values, hidden = set[str](), set[str]()
    found = [*own_secrets.check(own, texts, tokens, hidden)] if own else []
    if job.get("own_secrets_only"):
        return found
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
    return _cut(sorted(_redacted(found, values, hidden), key=lambda each: (_RANK[each.level], each.line or 0)))


def _of_text(text: str, values: set[str]) -> Iterator[Finding]:
    for findings in (secrets.private_keys(text), personal.check(text), unseen.check(text)):
        yield from islice(findings, MOST + 1)
    yield from secrets.check(text, values)


def _placed(finding: Finding, where: str) -> Finding:
    return (
        finding.model_copy(update={"line": None, "message": f"In the {where}: {finding.message}"}) if where else finding
    )


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


def _cut(found: list[Finding]) -> list[Finding]:
    if len(found) <= MOST:
        return found
    level = found[MOST - 1].level
    return [
        *found[: MOST - 1],
        Finding(level=level, rule="more", message="There are more findings than are listed here"),
    ]
