"""Where a text leads its readers."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from markdown_it.token import Token

from schemas.bridge.v1 import Finding
from services.bridge.inspection.checks.active import addresses
from shared.markup.links import target
from shared.markup.text import shorten


def check(tokens: Sequence[Token], prior: Sequence[Token] | None) -> Iterator[Finding]:
    """Notes: the hosts that a text links to, and those that the approved revision did not link to."""
    hosts = _hosts(tokens)
    if hosts:
        sites = "1 other site" if len(hosts) == 1 else f"{len(hosts)} other sites"
        yield _note("links", f"Links to {sites}: {', '.join(sorted(hosts))}")
    new = hosts - _hosts(prior) if prior is not None else set()
    if new:
        yield _note("new_links", f"Not linked by the approved revision: {', '.join(sorted(new))}")


def _note(rule: str, message: str) -> Finding:
    return Finding(level="note", rule=rule, message=shorten(message, 400))


def _hosts(tokens: Sequence[Token]) -> set[str]:
    found = set()
    for _, address in addresses(tokens):
        leads = target(address, "")
        if leads and leads.remote:
            found.add(_host(leads.href))
    return found - {""}


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return "an address that cannot be read"
