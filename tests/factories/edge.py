"""Debian's nginx with the product's own configuration, in front of whatever a test puts behind it."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from infra.local.layout import Layout
from infra.nginx.config import CONSOLE_BODY, Edge, Front, Limits, render
from infra.nginx.installed import make_home, worker
from infra.nginx.links import write_links
from shared.testing.servers import free_port_base, short_folder
from tests.factories.waiting import until

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin")
NAMES = {"console": "console.test", "site": "site.test", "workspace": "workspace.test"}


class Through(httpx2.HTTPTransport):
    """Names lead to this machine; `source` is the address that the client comes from."""

    def __init__(self, authority: Path, source: str | None) -> None:
        super().__init__(verify=ssl.create_default_context(cafile=authority), local_address=source)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        extensions = {**request.extensions, "sni_hostname": request.url.host}
        url = request.url.copy_with(host="127.0.0.1")
        there = httpx2.Request(
            request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
        )
        return super().handle_request(there)


class Past(httpx2.HTTPTransport):
    """Straight to where a service listens, as nginx would speak to it: the name is the public one."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self._port)
        return super().handle_request(
            httpx2.Request(request.method, url, headers=request.headers, stream=request.stream)
        )


@dataclass
class Gate:
    """A running nginx. `urls` by front, as people would type them."""

    home: Path
    edge: Edge
    process: subprocess.Popen[bytes]
    _clients: list[httpx2.Client] = field(default_factory=list)

    @property
    def urls(self) -> dict[str, str]:
        return {name: front.url for name, front in self.edge.fronts.items()}

    @property
    def tls_port(self) -> int:
        return int(self.edge.listen_tls[0].rsplit(":", 1)[1])

    @property
    def http_port(self) -> int:
        return int(self.edge.listen_http[0].rsplit(":", 1)[1])

    def client(self, front: str, source: str | None = None, **options: Any) -> httpx2.Client:
        """A browser of its own."""
        transport = Through(self.home / "edge.pem", source)
        found = httpx2.Client(base_url=self.urls[front], transport=transport, timeout=20, **options)
        self._clients.append(found)
        return found

    def written(self) -> str:
        """Everything that nginx wrote down."""
        return "".join(path.read_text() for path in self.home.glob("*.log"))

    def lines(self) -> list[dict[str, str]]:
        whole, _, _ = (self.home / "access.log").read_text().rpartition("\n")  # the last line may be being written
        return [json.loads(line) for line in whole.splitlines()]

    def close(self) -> None:
        for each in self._clients:
            each.close()


def make_edge(home: Path, base: int, upstreams: dict[str, tuple[str, ...]], layout: Layout | None = None) -> Edge:
    """`base`: of two free ports. `layout`: of the installation whose downloads it sends."""
    sends = {} if layout is None else {"spool": layout.spool, "links": layout.links_conf, "user": worker()}
    made = {name: Front(f"https://{host}:{base}", upstreams[name]) for name, host in NAMES.items()}
    return Edge(
        console=replace(made["console"], body=CONSOLE_BODY),
        site=made["site"],
        workspace=made["workspace"],
        certificate=home / "edge.pem",
        key=home / "edge.key",
        home=home,
        listen_tls=(f"127.0.0.1:{base}",),
        listen_http=(f"127.0.0.1:{base + 1}",),
        workers="1",
        connections=512,
        limits=Limits(
            identity=(1, 60), signals=(1, 200), search=(1, 40)
        ),  # slow ones: a busy machine reaches them, too
        cache_header=True,
        **sends,  # type: ignore[arg-type]
    )


@contextmanager
def running_edge(
    upstreams: dict[str, tuple[str, ...]], base: int, text: str = "", layout: Layout | None = None
) -> Iterator[Gate]:
    """nginx on `base` (TLS) and `base + 1`, as whoever runs the tests, or, where it sends downloads, as it is installed; stopped and removed afterwards."""
    if NGINX is None:
        pytest.skip("nginx is missing (Debian: apt-get install nginx-light); `make test` installs it where it may")
    home = short_folder("edge")
    make_certificate(home)
    home.chmod(0o711)
    if layout is not None:
        make_home(layout)
        write_links(layout, (os.getuid(), os.getgid()), worker())
    edge = make_edge(home, base, upstreams, layout)
    (home / "nginx.conf").write_text(text or render(edge))
    command = [NGINX, "-e", "stderr", "-p", str(home), "-c", str(home / "nginx.conf")]
    with (home / "out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    gate = Gate(home, edge, process)
    try:
        until(lambda: (home / "nginx.pid").exists() or process.poll() is not None, 10, "nginx runs")
        assert process.poll() is None, (home / "out").read_text()
        yield gate
    finally:
        gate.close()
        process.terminate()
        process.wait(10)
        shutil.rmtree(home, ignore_errors=True)


def make_certificate(home: Path) -> None:
    """One certificate for the three names, trusted by the tests' clients only."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "edge of a test")])
    at = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), at - timedelta(days=1), at + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in NAMES.values()]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    (home / "edge.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (home / "edge.key").write_bytes(private)


class Behind(ThreadingHTTPServer):
    """A service that a test can shape: `answers` by path (status, headers); counts what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.answers: dict[str, tuple[int, dict[str, str]]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._open: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        found = super().get_request()
        self._open.append(found[0])
        return found

    def die(self) -> None:
        """As a killed process does: nobody listens, and open connections end."""
        self.shutdown()
        self.server_close()
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def count(self, path: str) -> int:
        return sum(each == path for each, _ in self.asked)

    def headers_of(self, path: str) -> dict[str, str]:
        """Of the last request for that path, by lower-case name."""
        return [headers for each, headers in self.asked if each == path][-1]


class _Answering(BaseHTTPRequestHandler):
    server: Behind
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def do_GET(self) -> None:
        self.server.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        self.rfile.read(int(self.headers.get("content-length", 0)))
        status, headers = self.server.answers.get(self.path, (404, {"Cache-Control": "private, no-store"}))
        body = f"{self.path} {len(self.server.asked)}\n".encode() + b"x" * 2000
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the base class's name

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def behind() -> Iterator[Behind]:
    server = Behind()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.die()
        thread.join()


def two_ports() -> int:
    """A base for TLS and plain HTTP, away from those that stacks of this run use."""
    return free_port_base() + 6
