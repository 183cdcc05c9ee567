"""Signatures of links that work for whoever has them, as nginx's secure_link reads them, too: MD5 over time, address and a key of 256 bits.

nginx turns away what is forged or too late without asking; the agent looks once more, and whether the link is still registered.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlencode

from services.agent.downloads.domain import mailed_path
from shared.errors import Transient


@dataclass(frozen=True)
class LinkKey:
    """`key_id` stands in the link, so that those that were sent before a rotation still open."""

    key_id: str
    secret: str

    def __repr__(self) -> str:
        return f"LinkKey({self.key_id})"

    def sign(self, path: str, expires: int) -> str:
        """`path` as it is, not encoded."""
        told = f"{expires}{path} {self.secret}".encode()
        return urlsafe_b64encode(hashlib.md5(told, usedforsecurity=False).digest()).rstrip(b"=").decode()


class LinkKeys:
    """The newest first; read anew when the file is another one."""

    def __init__(self, path: Path) -> None:
        self._path, self._seen = path, (0, 0)
        self._keys: tuple[LinkKey, ...] = ()

    def link(self, token: str, name: str, expires_at: datetime) -> str:
        """Path and query of a link. Transient when there is no key."""
        keys = self._all()
        if not keys:
            raise Transient(f"{self._path} is missing; a start makes it: `schleuse up`")
        path, expires = mailed_path(token, name), int(expires_at.timestamp())
        signed = {"e": expires, "k": keys[0].key_id, "s": keys[0].sign(path, expires)}
        return f"{quote(path)}?{urlencode(signed)}"

    def holds(self, path: str, query: Mapping[str, str], at: datetime) -> bool:
        """Whether we signed it, and it is not too late."""
        key = next((each for each in self._all() if each.key_id == query.get("k")), None)
        expires = query.get("e", "")
        if key is None or not (expires.isascii() and expires.isdigit() and len(expires) <= 12):
            return False
        signed = key.sign(path, int(expires)).encode()
        return hmac.compare_digest(signed, query.get("s", "").encode()) and int(expires) >= at.timestamp()

    def _all(self) -> tuple[LinkKey, ...]:
        try:
            facts = self._path.stat()
            if (facts.st_ino, facts.st_mtime_ns) != self._seen:
                self._keys, self._seen = read_keys(self._path.read_text()), (facts.st_ino, facts.st_mtime_ns)
        except FileNotFoundError:  # a rotation puts the new one there in this moment
            pass
        return self._keys


def read_keys(text: str) -> tuple[LinkKey, ...]:
    """One a line: its id and its secret."""
    return tuple(LinkKey(*line.split()) for line in text.splitlines() if line.strip())
