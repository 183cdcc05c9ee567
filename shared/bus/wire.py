"""Many messages in one write, and headers read without ceremony.

nats-py takes two awaits and checks every header letter by letter for each message, which costs more than everything else
that a batch's message needs. This uses private methods of its client (`_send_command`, `_flush_pending`,
`_parse_header_lines`), as shared.bus.pull does: the version is pinned, and the tests of delivery hold the expectation.
"""

from collections.abc import Iterable, Mapping

from nats.aio.client import Client
from nats.errors import ConnectionClosedError

from shared.errors import Permanent


class LeanClient(Client):
    """The client with a shorter way through a message's headers."""

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        found = {}
        for line in raw.split(b"\r\n"):
            name, colon, value = line.partition(b":")
            if colon:
                found[name.strip().decode("ascii", "replace")] = value.strip().decode("utf-8", "replace")
        return found


def publication(subject: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """The command that publishes one message. Permanent when a header would break out of its line."""
    head = "NATS/1.0\r\n" + "".join([f"{name}: {value}\r\n" for name, value in headers.items()]) + "\r\n"
    if head.count("\n") != len(headers) + 2 or head.count("\r") != len(headers) + 2:
        raise Permanent(f"a header of {subject} has a line break")
    block = head.encode()
    return b"HPUB %b %d %d\r\n%b%b\r\n" % (subject.encode(), len(block), len(block) + len(body), block, body)


def answer(reply: str, word: bytes) -> bytes:
    """The command that answers a delivered message."""
    return b"PUB %b %d\r\n%b\r\n" % (reply.encode(), len(word), word)


async def send(client: Client, commands: Iterable[bytes]) -> None:
    """Hand commands to the connection together, in order. ConnectionClosedError when there is none at the moment."""
    if not client.is_connected:
        raise ConnectionClosedError
    await client._send_command(b"".join(commands))
    await client._flush_pending()
