"""A name server on loopback that answers as the test says, also differently each time it is asked."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

Answer = Sequence[str]
"""Addresses of one answer. Empty: the name exists and has none."""


@dataclass
class NameServer:
    """`script`: by name, one answer after the other; the last one is repeated. What is not in it does not exist. `asked` has (name, type)."""

    script: Mapping[str, Sequence[Answer]]
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """As config.json's `dns_servers` has it."""
        return f"127.0.0.1:{self.port}"

    def answer(self, request: bytes) -> bytes:
        message = dns.message.from_wire(request)
        question = message.question[0]
        name, kind = str(question.name).removesuffix(".").lower(), dns.rdatatype.to_text(question.rdtype)
        times = self.asked.count((name, kind))
        self.asked.append((name, kind))
        said = dns.message.make_response(message)
        said.flags |= dns.flags.RA
        if name not in self.script:
            said.set_rcode(dns.rcode.NXDOMAIN)
            return said.to_wire()
        answers = self.script[name]
        found = [each for each in answers[min(times, len(answers) - 1)] if (":" in each) == (kind == "AAAA")]
        if found and kind in ("A", "AAAA"):
            said.answer.append(dns.rrset.from_text(question.name, 0, "IN", kind, *found))
        return said.to_wire()


class _Protocol(asyncio.DatagramProtocol):
    def __init__(self, server: NameServer) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override] - what an endpoint gives
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._transport.sendto(self._server.answer(data), addr)


@asynccontextmanager
async def name_server(script: Mapping[str, Sequence[Answer]]) -> AsyncIterator[NameServer]:
    server = NameServer(script)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: _Protocol(server), local_addr=("127.0.0.1", 0))
    server.port = transport.get_extra_info("sockname")[1]
    try:
        yield server
    finally:
        transport.close()
