"""No secret stands in a log: tokens, one-time links, keys (S7, S12)."""

import re
from pathlib import Path

from infra.prove.check import Book
from infra.prove.target import Target

LIMIT = 64 * 1024**2
"""Bytes of the newest end of a log that are looked at."""
PATTERNS = {
    "a one-time link": re.compile(rb"/(?:welcome|set-password|invitation|invited)/[A-Za-z0-9_-]{20,}"),
    "a sign-in token": re.compile(rb"eyJ[A-Za-z0-9_-]{20,}\.eyJ[A-Za-z0-9_-]{20,}"),
    "a code of a sign-in": re.compile(rb"/signed-in\?code=[A-Za-z0-9_-]{20,}"),
    "an API token": re.compile(rb"schleuse_[A-Za-z0-9_-]{32,}"),
    "a key of the bus": re.compile(rb"\bSU[A-Z2-7]{56}\b"),
    "a private key": re.compile(rb"BEGIN [A-Z ]*PRIVATE KEY"),
    "a password's hash": re.compile(rb"\$argon2id?\$"),
    "a cookie": re.compile(rb"(?i)(?:set-)?cookie['\"]?[:=]\s*['\"]?\w+=[A-Za-z0-9_-]{20,}"),
    "a bearer token": re.compile(rb"(?i)bearer [A-Za-z0-9._~+/-]{20,}"),
}


def check_logs(target: Target, book: Book) -> None:
    if target.config.containers:
        book.open(
            "logs",
            "no secret stands in a log",
            "as designed",
            "the container engine keeps them, out of sight from here",
        )
        return
    tokens = {"the operator's token": target.layout.operator_token, "the ingest token": target.layout.ingest_token}
    secrets = {name: re.compile(re.escape(path.read_bytes().strip())) for name, path in tokens.items()}
    for path in sorted(target.layout.logs.glob("*.log*")):
        text = _newest(path)
        found = [name for name, pattern in {**PATTERNS, **secrets}.items() if pattern.search(text)]
        book.holds("logs", f"no secret stands in a log: {path.name}", ", ".join(found))


def _newest(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LIMIT))
        return file.read()
