"""Secrets, by detect-secrets' plugins, line by line in memory. No finding carries a secret."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin
from detect_secrets.plugins.keyword import KeywordDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector

from schemas.bridge.v1 import Finding

WINDOW = 400
"""Characters given to a plugin at once: some of their patterns need time that grows with the square of the line."""
OVERLAP = 120
MOST_WORDS = 12
"""Words such as `password` in one window; with more of them the keyword patterns take too long."""
SHOWN = 4
SHORTEST = 4
"""Shorter values are placeholders: everybody would guess them."""
MOST = 200
"""Different secrets in one text; the lock does not go on looking after them."""
_TOO_MANY = f"The lock stopped this: more than {MOST} different values in it look like secrets"
_BLOCKED = "The lock stopped this: it contains a private key"
_NOT_SECRETS = frozenset({"Public IP (ipv4)"})
"""An address is not a secret; documentation is full of 0.0.0.0."""
_KEY_WORD = re.compile(r"pass|pwd|secret|key|contrase", re.IGNORECASE)
_QUOTE = re.compile(r"[\"'`]")
_DENSE = re.compile(r"[\w+/=-]{20}|(?<![\w+/=-])(?=[\w+/=-]{0,40}[0-9])[\w+/=-]{9}|://[^\s/]{1,200}@")
"""What every pattern but the keywords' needs: a long run, or a shorter one with a digit, or a password in an address."""
_UNQUOTED = re.compile(
    r"(?:passwor[dt]|passwd|pwd|secret|token|kennwort|api[_-]?key)[\w-]{0,20}[ \t]{0,3}[:=][ \t]{0,3}([^\s\"'`<>(){}\[\],;]{12,200})",
    re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1[A-Z0-9]{20}|\bS[ACNOUX][A-Z2-7]{56}\b"
)


def check(text: str, values: set[str]) -> Iterator[Finding]:
    """`check` findings, one for each different value, which is added to `values`; a text full of them is blocked."""
    for number, line in enumerate(text.split("\n"), start=1):
        for piece in _windows(line):
            for kind, value in _secrets(piece):
                if value not in values:
                    yield _finding(kind, value, number)
                values.add(value)
                if len(values) > MOST:
                    yield Finding(level="block", rule="secrets", message=_TOO_MANY, line=number)
                    return


def private_keys(text: str) -> Iterator[Finding]:
    """A `block` for each line with the beginning of a private key."""
    for number, line in enumerate(text.split("\n"), start=1):
        if _PRIVATE_KEY.search(line):
            yield Finding(level="block", rule="private_key", message=_BLOCKED, line=number)


def masked(value: str) -> str:
    """The first characters of a secret: a third of it, at most four."""
    return value[: min(SHOWN, len(value) // 3)] + "…"


def _finding(kind: str, value: str, line: int) -> Finding:
    message = f"Looks like a secret ({kind}); check before it becomes public"
    return Finding(level="check", rule="secret", message=message, line=line, excerpt=masked(value))


def _windows(line: str) -> Iterator[str]:
    yield line[:WINDOW]
    for start in range(WINDOW - OVERLAP, len(line) - OVERLAP, WINDOW - OVERLAP):
        yield line[start : start + WINDOW]


def _secrets(line: str) -> Iterator[tuple[str, str]]:
    words = sum(1 for _ in _KEY_WORD.finditer(line))
    if words > MOST_WORDS:
        yield "too many words that name secrets", line
        return
    for plugin in _chosen(words > 0 and _QUOTE.search(line) is not None, _DENSE.search(line) is not None):
        for value in _values(plugin, line):
            if _is_value(value) and _is_strong(plugin, value):
                yield str(plugin.secret_type), value
    for found in _UNQUOTED.finditer(line):
        if _looks_random(found[1]):
            yield "assignment", found[1]


def _values(plugin: Any, line: str) -> Iterator[str]:
    """What a plugin finds. Of patterns whose group is a mere prefix (`ghp`) the whole match is the secret."""
    if type(plugin).analyze_string is not RegexBasedDetector.analyze_string:
        yield from plugin.analyze_string(line)
        return
    for pattern in plugin.denylist:
        for found in pattern.finditer(line):
            parts = [part for part in found.groups() if part and len(part) >= SHORTEST]
            yield from parts or [found[0]]


def _is_value(value: str) -> bool:
    """Not a placeholder such as `<password>`, `${PASSWORD}`, `{{ password }}` or `****`."""
    return len(value) >= SHORTEST and not value.startswith(("<", "$", "{")) and len(set(value)) > 1


def _is_strong(plugin: Any, value: str) -> bool:
    return (
        not isinstance(plugin, HighEntropyStringsPlugin)
        or plugin.calculate_shannon_entropy(value) > plugin.entropy_limit
    )


def _looks_random(value: str) -> bool:
    """Digits among letters, and most characters different: a word, a path or a placeholder is neither."""
    return (
        any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and len(set(value)) >= len(value) // 2
        and "://" not in value
    )


@lru_cache(maxsize=4)
def _chosen(keywords: bool, dense: bool) -> tuple[Any, ...]:
    """The plugins that can find anything in a line of this kind."""
    kinds: dict[str, Any] = get_mapping_from_secret_type_to_class()
    wanted = [
        kind for name, kind in sorted(kinds.items()) if name not in _NOT_SECRETS and kind is not PrivateKeyDetector
    ]
    return tuple(kind() for kind in wanted if (keywords if kind is KeywordDetector else dense))
