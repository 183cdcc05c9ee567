"""A server that says what a test wants: each connection is handed to a function, over TLS from the start or later."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


class Gone(Exception):
    """Raised by a script that ends its connection here."""


class Line:
    """One connection. Reading gives b"" when the other side is gone."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        self.sock, self._context = sock, context
        self.heard: list[bytes] = []
        self._file = sock.makefile("rb")

    def secure(self) -> None:
        self._file.close()
        self.sock = self._context.wrap_socket(self.sock, server_side=True)
        self._file = self.sock.makefile("rb")

    def close(self) -> None:
        self._file.close()
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()

    def say(self, raw: bytes) -> None:
        self.sock.sendall(raw)

    def hear(self, size: int = 0) -> bytes:
        """A line, or exactly `size` bytes."""
        found = self._file.read(size) if size else self._file.readline(100_000)
        self.heard.append(found)
        return found


Script = Callable[[Line], None]


@dataclass
class Scripted:
    port: int
    heard: list[bytes] = field(default_factory=list)
    connections: int = 0


@contextmanager
def running_script(context: ssl.SSLContext, script: Script, *, tls: bool = True, port: int = 0) -> Iterator[Scripted]:
    """On a free port, or this one. `tls`: from the start."""
    listener = socket.create_server(("127.0.0.1", port))
    server = Scripted(listener.getsockname()[1])

    def serve(sock: socket.socket) -> None:
        sock.settimeout(20)
        line = Line(sock, context)
        line.heard = server.heard
        with suppress(OSError, ValueError, Gone):
            if tls:
                line.secure()
            script(line)
        line.close()

    def accept() -> None:
        with suppress(OSError):
            while True:
                sock, _ = listener.accept()
                server.connections += 1
                threading.Thread(target=serve, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def imap(
    reply: Callable[[Line, bytes, bytes, bytes], bool] = lambda *_: False,
    greeting: bytes = b"* OK ready\r\n",
    capabilities: bytes = b"AUTH=PLAIN",
) -> Script:
    """An IMAP server: answers CAPABILITY, and asks `reply(line, tag, command, rest)` for everything; True: it has answered."""

    def script(line: Line) -> None:
        line.say(greeting)
        while raw := line.hear():
            tag, _, rest = raw.strip().partition(b" ")
            command, _, rest = rest.partition(b" ")
            if command.upper() == b"UID":
                command, _, rest = rest.partition(b" ")
            if reply(line, tag, command.upper(), rest):
                continue
            if command.upper() == b"CAPABILITY":
                line.say(b"* CAPABILITY IMAP4rev1 " + capabilities + b"\r\n" + tag + b" OK done\r\n")
            elif command.upper() == b"AUTHENTICATE":
                line.say(b"+ \r\n")
                line.hear()
                line.say(tag + b" OK in\r\n")
            elif command.upper() in {b"SELECT", b"EXAMINE"}:
                line.say(b"* 3 EXISTS\r\n* OK [UIDVALIDITY 7] fine\r\n" + tag + b" OK done\r\n")
            else:
                line.say(tag + b" OK done\r\n")

    return script


TAKEN = {b"AUTH": b"235 2.7.0 in\r\n", b"DATA": b"354 go on\r\n", b"QUIT": b"221 bye\r\n"}


def smtp(
    reply: Callable[[Line, bytes], bytes | None] = lambda *_: None,
    greeting: bytes = b"220 ready\r\n",
    offers: tuple[bytes, ...] = (b"AUTH PLAIN LOGIN",),
) -> Script:
    """A submission server that takes everything, but for what `reply(line, command)` answers; b"": it has answered."""
    ehlo = b"250-there\r\n" + b"".join(b"250-" + each + b"\r\n" for each in offers) + b"250 HELP\r\n"

    def script(line: Line) -> None:
        line.say(greeting)
        while raw := line.hear():
            answer = reply(line, raw.strip())
            if answer is None:
                answer = (TAKEN | {b"EHLO": ehlo}).get(raw.split()[0].upper(), b"250 2.0.0 fine\r\n")
            if answer:
                line.say(answer)
            if answer.startswith(b"354"):
                while line.hear() not in (b".\r\n", b""):
                    pass
                line.say(reply(line, b"<message>") or b"250 2.0.0 taken\r\n")

    return script
