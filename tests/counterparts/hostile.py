"""What nobody should answer, one path each."""

import asyncio
import base64
import gzip
import json
from urllib.parse import parse_qs, quote, urlsplit

from tests.counterparts.server import LAST_CHUNK, Seen, chunk, head, whole

MB = 1024 * 1024
BOMB = gzip.compress(b"\0" * (64 * MB), compresslevel=9)


async def hostile(seen: Seen, writer: asyncio.StreamWriter) -> None:
    url = urlsplit(seen.path)
    name = url.path.strip("/").replace("-", "_")
    given = {key: values[0] for key, values in parse_qs(url.query).items()}
    answer = ANSWERS.get(name)
    if answer is None:
        writer.write(whole(404, b"no such answer"))
    else:
        await answer(seen, writer, given)


async def _short(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    """Promises more than it says, and goes."""
    writer.write(head(200, ("Content-Length", "1000")) + b"only this")
    writer.close()


async def _long(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    """Says more than it promised: what follows looks like an answer to the next request."""
    writer.write(head(200, ("Content-Length", "4")) + b"good" + whole(200, b"smuggled"))


async def _two_lengths(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(head(200, ("Content-Length", "4"), ("Content-Length", "9")) + b"good more")
    writer.close()


async def _bad_chunks(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(head(200, ("Transfer-Encoding", "chunked")) + b"zz\r\nnot a length\r\n")
    writer.close()


async def _cut_chunks(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(head(200, ("Transfer-Encoding", "chunked")) + chunk(b"some of it"))
    await writer.drain()
    writer.close()


async def _bomb(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(whole(200, BOMB, ("Content-Encoding", "gzip")))


async def _nested_bomb(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(whole(200, gzip.compress(BOMB), ("Content-Encoding", "gzip, gzip")))


async def _cut_gzip(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(whole(200, gzip.compress(b"hello " * 1000)[:-12], ("Content-Encoding", "gzip")))


async def _packed(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(whole(200, gzip.compress(b"hello"), ("Content-Encoding", "gzip"), ("Content-Type", "text/plain")))


async def _endless(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(head(200, ("Transfer-Encoding", "chunked")))
    while not writer.is_closing():
        writer.write(chunk(b"x" * 65536))
        await writer.drain()


async def _drip(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    """A byte now and then, for ever."""
    writer.write(head(200, ("Transfer-Encoding", "chunked")))
    while not writer.is_closing():
        writer.write(chunk(b"."))
        await writer.drain()
        await asyncio.sleep(0.05)


async def _silent(_: Seen, __: asyncio.StreamWriter, ___: dict[str, str]) -> None:
    await asyncio.sleep(60)


async def _large_headers(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(head(200, ("X-Large", "y" * MB), ("Content-Length", "0")))


async def _many_headers(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(whole(200, b"", *((f"X-{number}", "z" * 40) for number in range(1900))))


async def _no_http(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.write(b"220 mail.example ESMTP\r\n")
    writer.close()


async def _gone(_: Seen, writer: asyncio.StreamWriter, __: dict[str, str]) -> None:
    writer.close()


async def _redirect(_: Seen, writer: asyncio.StreamWriter, given: dict[str, str]) -> None:
    writer.write(whole(int(given.get("status", "302")), b"", ("Location", given["to"])))


async def _round(_: Seen, writer: asyncio.StreamWriter, given: dict[str, str]) -> None:
    """A chain: each leads to the next."""
    left = int(given["left"])
    more = ("Location", f"/round?left={left - 1}")
    writer.write(whole(302, b"", more) if left else whole(200, b"arrived"))


async def _echo(seen: Seen, writer: asyncio.StreamWriter, given: dict[str, str]) -> None:
    """Everything that it was shown, in many spellings, three bytes at a time."""
    shown = [value for name, value in seen.headers if name in {"authorization", "x-api-key", "x-key"}]
    shown += [values for name, values in given.items() if name == "key"]
    spelled = [form for each in shown for form in spell(each)]
    body = json.dumps({"spelled": spelled}).encode()
    header = ("X-Echo", " ".join(shown).encode().decode("latin-1"))
    writer.write(
        head(
            int(given.get("status", "200")),
            header,
            ("Set-Cookie", "session=1"),
            ("Content-Type", "application/json"),
            ("Transfer-Encoding", "chunked"),
        )
    )
    for at in range(0, len(body), 3):
        writer.write(chunk(body[at : at + 3]))
        await writer.drain()
    writer.write(LAST_CHUNK)


def spell(value: str) -> list[str]:
    raw = value.encode()
    return [
        value,
        f"you said {value}!",
        base64.b64encode(raw).decode(),
        base64.b64encode(b"x" + raw).decode(),
        base64.urlsafe_b64encode(b"xy" + raw + b"z").decode(),
        base64.b64encode(base64.b64encode(raw)).decode(),
        raw.hex(),
        raw.hex().upper(),
        quote(value, safe=""),
        quote(quote(value, safe=""), safe=""),
        "".join(f"%{byte:02x}" for byte in raw),
        "".join(f"&#{byte};" for byte in raw),
        "".join(f"\\x{byte:02x}" for byte in raw),
        value[::-1],
        value.upper(),
    ]


ANSWERS = {
    function.__name__.strip("_"): function
    for function in (
        _short, _long, _two_lengths, _bad_chunks, _cut_chunks, _bomb, _nested_bomb, _cut_gzip, _packed, _endless, _drip, _silent,
        _large_headers, _many_headers, _no_http, _gone, _redirect, _round, _echo,
    )
}  # fmt: skip
