"""Seals on the bridge's envelopes: a signed Merkle root and each envelope's path to it.

Leaves are SHA-256(0x00 | subject | 0x00 | body), inner nodes SHA-256(0x01 | left | right), an odd node moves up as it
is (the tree of RFC 9162, section 2.1, without its padding rule). The header reads `1 key_id signature index count path`, the
last three empty-safe, signature and path in base64.
"""

import base64
import hashlib
from collections import OrderedDict

from shared.errors import BadSignature
from shared.signing import PublicKeys, SigningKey

HEADER = "Schleuse-Seal"
"""The only header that a staged event has; a surface's has none."""
PURPOSE = "schleuse.envelope.v1"
DUTY = "envelope"
_SIZE = 32


def leaf(subject: str, body: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + subject.encode() + b"\x00" + body).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def levels(leaves: list[bytes]) -> list[list[bytes]]:
    """All levels of the tree, leaves first, root last."""
    found = [leaves]
    while len(found[-1]) > 1:
        row = found[-1]
        above = [_node(row[at], row[at + 1]) for at in range(0, len(row) - 1, 2)]
        found.append(above + row[len(row) & ~1 :])
    return found


def path_to_root(tree: list[list[bytes]], index: int) -> bytes:
    """The sibling hashes from a leaf upwards, joined; a node without a sibling adds nothing."""
    path = b""
    for row in tree[:-1]:
        sibling = index ^ 1
        if sibling < len(row):
            path += row[sibling]
        index //= 2
    return path


def climb(found: bytes, index: int, count: int, path: bytes) -> bytes:
    """The root that a leaf at `index` of `count` leads to. BadSignature when the path has the wrong length."""
    at = 0
    while count > 1:
        if (index ^ 1) < count:
            sibling = path[at : at + _SIZE]
            at += _SIZE
            found = _node(sibling, found) if index & 1 else _node(found, sibling)
        index, count = index // 2, (count + 1) // 2
    if at != len(path):
        raise BadSignature("the seal's path has the wrong length")
    return found


class Sealer:
    """The bridge's side. Its key seals envelopes and nothing else (S3)."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def seal(self, envelopes: list[tuple[str, bytes]]) -> list[str]:
        """One header value for each (subject, body)."""
        tree = levels([leaf(subject, body) for subject, body in envelopes])
        signature = base64.b64encode(self._key.sign_bytes(PURPOSE, tree[-1][0])).decode()
        count = len(envelopes)
        return [
            f"1 {self._key.key_id} {signature} {index} {count} {base64.b64encode(path_to_root(tree, index)).decode()}"
            for index in range(count)
        ]


class SealChecker:
    """A reader's side. Remembers the roots it has verified, so a batch costs one signature check."""

    def __init__(self, keys: PublicKeys, remember: int = 4096) -> None:
        self._keys = keys
        self._known: OrderedDict[tuple[str, bytes], None] = OrderedDict()
        self._remember = remember

    def check(self, seal: str | None, subject: str, body: bytes) -> None:
        """BadSignature unless the bridge sealed exactly this body for this subject."""
        if not seal:
            raise BadSignature("the envelope carries no seal of the bridge")
        try:
            version, key_id, signature, index, count, *rest = seal.split(" ")
            path = base64.b64decode(rest[0] if rest else "", validate=True)
            place, total = int(index), int(count)
            signed = base64.b64decode(signature, validate=True)
        except (ValueError, IndexError):
            raise BadSignature("the envelope's seal cannot be read") from None
        if version != "1" or not 0 <= place < total <= 100_000:
            raise BadSignature("the envelope's seal cannot be read")
        self._check_root(key_id, signed, climb(leaf(subject, body), place, total, path))

    def _check_root(self, key_id: str, signature: bytes, root: bytes) -> None:
        known = (key_id, signature + root)
        if known in self._known:
            return
        self._keys.verify_bytes(DUTY, key_id, PURPOSE, root, signature)
        self._known[known] = None
        if len(self._known) > self._remember:
            self._known.popitem(last=False)
