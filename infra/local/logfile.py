"""One part's log: a file under DIR/logs that starts anew at 10 MiB, the two before it kept."""

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

LARGEST = 10 * 1024**2
KEPT = 2


class LogFile:
    """Lines are written as they come. A full disk loses lines, never the part that wrote them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: BinaryIO | None = None
        self.lost = 0

    def write(self, line: bytes) -> None:
        try:
            stream = self._open()
            stream.write(line)
            if stream.tell() > LARGEST:
                self._rotate()
        except OSError:
            self.lost += 1
            self.close()

    def close(self) -> None:
        if self._stream is not None:
            with suppress(OSError):
                self._stream.close()
            self._stream = None

    def _open(self) -> BinaryIO:
        if self._stream is None:
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o640)
            self._stream = os.fdopen(handle, "ab", buffering=0)
        assert self._stream is not None
        return self._stream

    def _rotate(self) -> None:
        self.close()
        for number in range(KEPT, 0, -1):
            older = self.path.with_suffix(f".log.{number}")
            newer = self.path if number == 1 else self.path.with_suffix(f".log.{number - 1}")
            if newer.exists():
                newer.replace(older)
