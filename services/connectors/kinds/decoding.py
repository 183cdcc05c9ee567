"""Answers that come compressed although nobody asked for it: opened piece by piece, never more than may be read."""

import zlib
from collections.abc import Iterator

from shared.errors import Permanent, SchleuseError, Transient

PIECE = 64 * 1024
"""Bytes that are opened at once."""
PLAIN = frozenset({"", "identity"})
PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_ANY_HEADER, _NO_HEADER = zlib.MAX_WBITS | 32, -zlib.MAX_WBITS


class Decoder:
    """Of one answer. Permanent (code `bad_answer`) for an encoding that nobody asked for."""

    def __init__(self, encoding: str, host: str) -> None:
        self._host, self.packed = host, encoding.strip().lower() in PACKED
        if not self.packed and encoding.strip().lower() not in PLAIN:
            raise Permanent(
                f"{host} answers in the encoding {encoding[:40]!a}, which was not asked for", code="bad_answer"
            )
        self._inflater = zlib.decompressobj(_ANY_HEADER)
        self._begun = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """In pieces: whoever counts them can stop in time. Transient (code `bad_answer`) when it is damaged."""
        if not self.packed:
            yield chunk
            return
        rest = chunk
        while rest:
            piece, damaged = self._open(rest)
            if damaged:
                raise self._damaged()
            if piece:
                yield piece
            rest = self._inflater.unconsumed_tail or self._next_member()

    def end(self) -> None:
        """Transient when something is missing."""
        if self.packed and self._begun and not self._inflater.eof:
            raise self._damaged()

    def _open(self, raw: bytes) -> tuple[bytes, bool]:
        try:
            found = self._inflater.decompress(raw, PIECE)
        except zlib.error:
            if self._begun:
                return b"", True
            self._inflater, self._begun = (
                zlib.decompressobj(_NO_HEADER),
                True,
            )  # `deflate` of many servers has no header
            return self._open(raw)
        self._begun = True
        return found, False

    def _next_member(self) -> bytes:
        rest = self._inflater.unused_data if self._inflater.eof else b""
        if rest:
            self._inflater = zlib.decompressobj(_ANY_HEADER)
        return rest

    def _damaged(self) -> SchleuseError:
        return Transient(f"{self._host} answers with compressed data that is damaged or cut off", code="bad_answer")
