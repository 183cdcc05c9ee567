"""One connection of the HTTP library over a socket that the guard has dialled."""

import select
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import anyio
import httpcore2
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSAttribute, TLSStream

from shared.errors import Refused, Transient

GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class SocketStream(httpcore2.AsyncNetworkStream):
    """`reached`: what it leads to, for the audit."""

    def __init__(self, stream: ByteStream, reached: str = "") -> None:
        self._stream, self._reached = stream, reached

    @classmethod
    async def over(cls, connected: socket.socket, reached: str = "") -> Self:
        return cls(await anyio.abc.SocketStream.from_socket(connected), reached)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the library's signature
        with _mapped(httpcore2.ReadError, httpcore2.ReadTimeout), anyio.fail_after(timeout):
            try:
                return await self._stream.receive(max_bytes)
            except anyio.EndOfStream:
                return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the library's signature
        if buffer:
            with _mapped(httpcore2.WriteError, httpcore2.WriteTimeout), anyio.fail_after(timeout):
                await self._stream.send(buffer)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
    ) -> "SocketStream":
        """Refused (code `certificate`), Transient (code `tls`)."""
        name, wrapped, failure = server_hostname or "", None, None
        try:
            with anyio.fail_after(timeout):
                wrapped = await TLSStream.wrap(
                    self._stream, hostname=name, ssl_context=ssl_context, server_side=False, standard_compatible=False
                )
        except (ssl.SSLError, TimeoutError, anyio.EndOfStream, *GONE) as error:
            failure = _typed(error, name)
        finally:
            if wrapped is None:
                await anyio.aclose_forcefully(self._stream)
        if wrapped is None:
            assert failure is not None, "what is caught is typed"
            raise failure
        return SocketStream(wrapped, self._reached)

    def _holds_more(self) -> bool:
        """What came in the same record as an answer is no longer at the socket."""
        stream = self._stream
        return isinstance(stream, TLSStream) and bool(stream._read_bio.pending or stream._ssl_object.pending())

    def get_extra_info(self, info: str) -> Any:
        if info == "reached":
            return self._reached
        if info == "is_readable":
            return self._holds_more() or _is_readable(self._stream.extra(SocketAttribute.raw_socket, None))  # noqa: S610 - no database here
        if info == "ssl_object":
            return self._stream.extra(TLSAttribute.ssl_object, None)  # noqa: S610 - as above
        return None


@contextmanager
def _mapped(broken: type[Exception], late: type[Exception]) -> Iterator[None]:
    """The library's own errors, without the address or the cause."""
    try:
        yield
    except TimeoutError:
        raise late("the other side took too long") from None
    except GONE:
        raise broken("the connection broke") from None


def _typed(error: Exception, name: str) -> Refused | Transient:
    if isinstance(error, ssl.SSLCertVerificationError):
        said = f"the certificate of {name} does not hold ({error.verify_message.strip().rstrip('.')})"
        return Refused(
            f"{said}; its operator must renew or correct it, or the host is the wrong one", code="certificate"
        )
    return Transient(
        f"no TLS connection with {name} came about; check that it speaks TLS there, or try again later", code="tls"
    )


def _is_readable(connected: socket.socket | None) -> bool:
    """Also a socket that is gone: the next read then says so."""
    if connected is None or connected.fileno() < 0:
        return True
    asked = select.poll()
    asked.register(connected, select.POLLIN)
    return bool(asked.poll(0))
