"""nginx in front of the site: what a cached page costs it, beside a static file of the same bytes, and the time that it adds."""

import asyncio
import shutil
import ssl
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from infra.bench.approvals import approve_each, percentile, submit
from infra.bench.http import Connection
from infra.bench.rates import AT_ONCE, ask_again
from infra.bench.target import Say, Target
from infra.bench.usage import children_of, cpu_seconds
from infra.nats.certificate import make
from infra.nginx.config import Edge, Front, render
from infra.nginx.installed import upstreams
from shared.errors import Refused

NAME = "site.bench"
TRIES = 200
"""Requests one after another, for the time that each takes."""
STATIC = "location = /bench-static {{ root {root}; default_type text/html; }}\n    location / {{"


async def measure_edge(target: Target, runs: int, requests: int, say: Say) -> dict[str, float]:
    """Requests a second and CPU core of nginx (`page_per_core`, `static_per_core`, best of `runs`), by the clock, and medians in ms."""
    [item] = await submit(target, 1)
    await approve_each(target, [item])
    async with nginx_in_front(target, item.path) as (port, workers):
        tls = _trust()
        page, static = _request(item.path), _request("/bench-static")
        best: dict[str, float] = {}
        for run in range(runs):
            say(f"run {run + 1} of {runs}")
            found = await _leg("page", page, port, tls, workers, requests)
            found |= await _leg("static", static, port, tls, workers, requests)
            best = {name: max(each, best.get(name, 0.0)) for name, each in found.items()}
        best["page_to_static"] = best["page_per_core"] / best["static_per_core"]
        return best | await _times(target, item.path, page, port, tls)


async def _leg(name: str, request: bytes, port: int, tls: ssl.SSLContext, workers: list[int], count: int) -> dict[str, float]:  # fmt: skip
    share = max(1, count // AT_ONCE)
    cpu, began = cpu_seconds(workers), time.perf_counter()
    await asyncio.gather(
        *(ask_again(("127.0.0.1", port), request, share, ssl=tls, server_hostname=NAME) for _ in range(AT_ONCE))
    )
    spent, wall = max(cpu_seconds(workers) - cpu, 0.01), time.perf_counter() - began
    return {f"{name}_per_core": share * AT_ONCE / spent, f"{name}_per_s": share * AT_ONCE / wall}


async def _times(target: Target, path: str, page: bytes, port: int, tls: ssl.SSLContext) -> dict[str, float]:
    """Median and p99 of one request at a time: at the site itself, and through nginx."""
    async with Connection(target.site) as connection:
        direct = [await _timed(connection, connection.request(path)) for _ in range(TRIES)]
    async with Connection(("127.0.0.1", port), ssl=tls, server_hostname=NAME) as connection:
        through = [await _timed(connection, page) for _ in range(TRIES)]
    figures = {f"{name}_p{share}_ms": percentile(times, share / 100) for name, times in (("direct", direct), ("through", through)) for share in (50, 99)}  # fmt: skip
    return figures | {"added_p50_ms": figures["through_p50_ms"] - figures["direct_p50_ms"]}


async def _timed(connection: Connection, request: bytes) -> float:
    began = time.perf_counter()
    status, _ = await connection.send(request)
    if status != 200:
        raise Refused(f"the page of the benchmark was answered with {status}")
    return (time.perf_counter() - began) * 1000


def _request(path: str) -> bytes:
    return b"GET %b HTTP/1.1\r\nHost: %b\r\n\r\n" % (path.encode(), NAME.encode())


def _trust() -> ssl.SSLContext:
    """Anybody: what is measured is this machine's own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@asynccontextmanager
async def nginx_in_front(target: Target, path: str) -> AsyncIterator[tuple[int, list[int]]]:
    """(port, ids of the workers) of an nginx with one worker and the generated configuration, and a static copy of the page.

    At the port above the site is also there in the clear, to be compared with answers that know no TLS.
    """
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        raise Refused("nginx is not installed (Debian: apt-get install nginx-light)")
    home, port = target.layout.state / "nginx-bench", target.config.ports["console"] + 5
    home.mkdir(mode=0o755)
    async with Connection(target.site) as connection:
        (home / "bench-static").write_bytes((await connection.get(path))[1])
    for name, text in zip(("certificate", "key"), make(), strict=True):
        (home / name).write_text(text)
    (home / "nginx.conf").write_text(_configuration(target, home, port))
    command = [program, "-e", str(home / "error.log"), "-p", str(home), "-c", str(home / "nginx.conf")]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603, ASYNC220 - a program that is installed
    try:
        yield port, await _workers(process, port)
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait)


def _configuration(target: Target, home: Path, port: int) -> str:
    fronts = {
        name: Front(f"https://{name}.bench", upstreams(target.config, name), knows_itself_as=url.split("//", 1)[1])
        for name, url in target.config.urls.items()
    }
    edge = Edge(
        console=fronts["console"], site=fronts["site"], workspace=fronts["workspace"], certificate=home / "certificate", key=home / "key",
        home=home, listen_tls=(f"127.0.0.1:{port}",), listen_http=(), workers="1", user=_owner(home),
    )  # fmt: skip
    text = render(edge)
    before, after = text.split(f"server_name {NAME};", 1)
    after = after.replace("location / {", STATIC.format(root=home), 1).replace(f'if ($ssl_server_name != "{NAME}")', "if ($host = none)", 1)  # fmt: skip
    return f"{before}listen 127.0.0.1:{port + 1};\n    server_name {NAME};{after}"


def _owner(home: Path) -> str:
    """Workers run as whoever runs this: the folder is gone in a moment."""
    return home.owner() if home.stat().st_uid == 0 else ""


async def _workers(process: "subprocess.Popen[bytes]", port: int) -> list[int]:
    async with asyncio.timeout(10):
        while process.poll() is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            return children_of(process.pid)
    raise Refused("nginx did not start; is its port free?")
