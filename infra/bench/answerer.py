"""The other side of a measured call: a small HTTP server on loopback, in a process of its own. It says its port on a line."""

import asyncio
import sys

import uvloop

CHUNK = b"data: a piece of an answer that is still being made\n\n"
PAUSE = 0.02
"""Seconds between the chunks of a streamed answer."""
CHUNKS = 5
_BODY = b'{"answer": "of some words, as a small one has them", "number": 42}'
_PLAIN = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
_STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if b"/stream" in head.split(b"\r\n", 1)[0]:
                writer.write(_STREAM)
                for _ in range(CHUNKS):
                    writer.write(b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK))
                    await writer.drain()
                    await asyncio.sleep(PAUSE)
                writer.write(b"0\r\n\r\n")
            else:
                writer.write(_PLAIN)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve())
