"""A connection as the IMAP library uses it, from a thread: every wait ends at one deadline, and what is read has a limit.

The library reads a literal of any announced size, and any number of lines; here both count against the call's bytes.
"""

import socket
import ssl
import time
from contextlib import suppress

from services.connectors.kinds.mailing.failures import too_large

MOST_LINES = 2 * 1024 * 1024
"""Bytes of everything that is no literal: it is taken apart character by character."""
CHUNK = 64 * 1024


class Wire:
    """`sock` is connected. `seconds` from now until everything is over; `most` bytes of literals."""

    def __init__(self, sock: socket.socket, where: str, seconds: float, most: int) -> None:
        self.sock, self.where, self._most = sock, where, most
        self._until = time.monotonic() + seconds
        self._held = bytearray()
        self._literals = self._lines = 0
        self._is_cut = False

    def secure(self, context: ssl.SSLContext, host: str) -> None:
        """From here on TLS. What came before it and was not read is dropped: nobody vouches for it."""
        self._held.clear()
        self.sock = secured = context.wrap_socket(self.sock, server_hostname=host, do_handshake_on_connect=False)
        self._wait()  # looks whether it was cut while the socket changed hands
        secured.do_handshake()

    def read(self, size: int) -> bytes:
        self._literals += size
        if self._literals > self._most:
            raise too_large(self.where, self._most)
        while len(self._held) < size:
            self._fill()
        return self._take(size)

    def readline(self) -> bytes:
        start = 0
        while (end := self._held.find(b"\n", start)) < 0:
            start = len(self._held)
            self._check(start)
            self._fill()
        self._check(end + 1)
        self._lines += end + 1
        return self._take(end + 1)

    def send(self, data: bytes) -> None:
        self._wait()
        self.sock.sendall(data)

    def cut(self) -> None:
        """From another thread: whoever waits in here fails at once. The plain socket's own method, for TLS would wait for its end."""
        self._is_cut = True
        with suppress(OSError):
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)

    def close(self) -> None:
        self.cut()
        self.sock.close()

    def _check(self, more: int) -> None:
        if self._lines + more > MOST_LINES:
            raise too_large(self.where, MOST_LINES)

    def _fill(self) -> None:
        self._wait()
        found = self.sock.recv(CHUNK)
        if not found:
            raise ConnectionResetError("closed")
        self._held += found

    def _take(self, size: int) -> bytes:
        found = bytes(self._held[:size])
        del self._held[:size]
        return found

    def _wait(self) -> None:
        left = self._until - time.monotonic()
        if self._is_cut:
            raise ConnectionAbortedError("cut")
        if left <= 0:
            raise TimeoutError
        self.sock.settimeout(left)
