"""What a model's answer says that it used, read while it passes by: whole answers and streams of events."""

import json
from dataclasses import dataclass, field
from typing import Any

LARGEST = 10 * 1024 * 1024
"""Bytes of one line or one whole answer that are looked at."""


@dataclass
class Usage:
    """Feed it the answer's chunks. None: the provider gave no figure (rule 30).

    `tokens_in` counts everything that was read, from a cache or not; so OpenAI counts it, and Anthropic's three figures add up to it.
    """

    events: bool
    tokens_in: int | None = None
    tokens_out: int | None = None
    _rest: bytearray = field(default_factory=bytearray)

    def feed(self, chunk: bytes) -> None:
        if self.events and b"\n" in chunk:
            *lines, rest = bytes(self._rest + chunk).split(b"\n")
            for line in lines:
                self._line(line)
            self._rest = bytearray(rest)
        elif len(self._rest) <= LARGEST:
            self._rest += chunk

    def end(self) -> None:
        rest = bytes(self._rest)
        self._line(rest) if self.events else self._look(rest)
        self._rest.clear()

    def _line(self, line: bytes) -> None:
        name, _, data = line.partition(b":")
        if name == b"data" and b'"usage"' in data:
            self._look(data)

    def _look(self, raw: bytes) -> None:
        if b'"usage"' not in raw:
            return
        try:
            found = json.loads(raw)
        except (ValueError, RecursionError):
            return
        if isinstance(found, dict):
            for holder, final in _holders(found):
                self._take(holder.get("usage"), final=final)

    def _take(self, usage: Any, *, final: bool) -> None:
        if not isinstance(usage, dict):
            return
        read = [_count(usage.get(name)) for name in ("prompt_tokens", "input_tokens")]
        cached = [_count(usage.get(name)) for name in ("cache_creation_input_tokens", "cache_read_input_tokens")]
        said = [each for each in read if each is not None]
        if said:
            self.tokens_in = _count(said[0] + sum(each or 0 for each in cached))
        written = [_count(usage.get(name)) for name in ("completion_tokens", "output_tokens")]
        if final and (told := [each for each in written if each is not None]):
            self.tokens_out = told[0]


def _holders(found: dict[str, Any]) -> list[tuple[dict[str, Any], bool]]:
    """What may hold `usage`, and whether its figure of what was written is a final one: Anthropic's first event counts no output yet."""
    first = found.get("type") == "message_start"
    inner = [each for each in (found.get("response"), found.get("message")) if isinstance(each, dict)]
    return [(found, True), *((each, not first) for each in inner)]


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
