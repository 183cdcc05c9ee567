"""Where decrypted bytes go, and counting them."""

from typing import IO

from infra.backup.running import Tell
from shared.errors import Refused


class Counting:
    """Tells how many bytes are done, now and then."""

    def __init__(self, tell: Tell, every: int = 16 * 1024**2) -> None:
        self._tell, self._every, self._done, self._said = tell, every, 0, 0

    def add(self, size: int) -> None:
        self._done += size
        if self._done - self._said >= self._every:
            self._said = self._done
            self._tell({"done": self._done})


class Piping:
    """Into a program's standard input."""

    def __init__(self, pipe: IO[bytes], tell: Tell) -> None:
        self._pipe, self._count = pipe, Counting(tell)

    def write(self, data: bytes) -> int:
        self._pipe.write(data)
        self._count.add(len(data))
        return len(data)

    def flush(self) -> None:
        self._pipe.flush()

    def close(self) -> None:
        self._pipe.close()


class Collecting:
    """A small file in memory."""

    def __init__(self, most: int = 16 * 1024**2) -> None:
        self.data, self._most = bytearray(), most

    def write(self, data: bytes) -> int:
        self.data += data
        if len(self.data) > self._most:
            raise Refused("the settings in the backup are larger than settings can be", code="damaged")
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""


class Draining:
    """Nowhere: read to see that it can be read."""

    def __init__(self, count: Counting) -> None:
        self._count = count

    def write(self, data: bytes) -> int:
        self._count.add(len(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""
