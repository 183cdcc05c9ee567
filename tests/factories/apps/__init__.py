"""Apps for tests: folders by their files, and a process of one without a console."""

import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shared.apps.folder import folder_hash, read_folder
from shared.apps.frames import Frame, receive, send

ROOT = Path(__file__).resolve().parents[3]
BERTHS = ROOT / "tests" / "samples" / "apps" / "berths"
MANIFEST = 'slug = "{slug}"\ntitle = "Trial"\nkind = "{kind}"\n'


def berths(slug: str) -> dict[str, bytes]:
    """The example under another name."""
    files = read_folder(BERTHS)
    return {**files, "app.toml": files["app.toml"].replace(b'"berths"', f'"{slug}"'.encode())}


def app_of(slug: str = "trial", kind: str = "application", **modules: str) -> dict[str, bytes]:
    """An app from the text of its modules."""
    made = {"app.toml": MANIFEST.format(slug=slug, kind=kind).encode()}
    return made | {f"{name}.py": text.encode() for name, text in modules.items()}


def sent(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: b64encode(raw).decode() for path, raw in files.items()}


def write(files: Mapping[str, bytes], place: Path) -> Path:
    for path, raw in files.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(raw)
    return place


@contextmanager
def process() -> Iterator[socket.socket]:
    """A process as the host begins one; its end is ours."""
    ours, theirs = socket.socketpair()
    handle = theirs.fileno()
    command = [sys.executable, "-B", "-m", "infra.apps.worker", "--fd", str(handle)]
    with (
        ours,
        subprocess.Popen(
            command, pass_fds=(handle,), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ) as running,
    ):
        theirs.close()
        ours.settimeout(60)
        try:
            yield ours
        finally:
            running.kill()


def load(to: socket.socket, files: Mapping[str, bytes], approved: str = "") -> Frame:
    return asked(to, {"op": "load", "hash": approved or folder_hash(files), "files": sent(files)})


def page(to: socket.socket, path: str, **query: str) -> Frame:
    return asked(to, {"op": "page", "path": path, "query": query, "lang": "en"})


def asked(to: socket.socket, frame: dict[str, Any]) -> Frame:
    send(to, frame)
    found = receive(to)
    assert found is not None, "its process ended"
    return found
