"""What the running containers are, seen from outside: nothing here believes what they say of themselves."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from infra.prove.areas.logs import PATTERNS
from tests.compose.trial.machine import Failed
from tests.compose.trial.system import RUNNING, System, wanted_uid


def check(system: System) -> list[str]:
    """What was seen, one line each. Failed on the first difference."""
    return [*_walls(system), *_ports(system), *_ways_out(system), *_between(system), *_wrong_uid(system)]


def check_logs(system: System) -> list[str]:
    """What the engine kept of everybody's output holds no secret; from inside nobody can look."""
    for part in RUNNING:
        text = system.logs(part).encode()
        found = [name for name, pattern in PATTERNS.items() if pattern.search(text)]
        _must(not found, f"no secret stands in the log of {part}", found)
    return ["no secret stands in any container's log"]


def _must(fine: bool, says: str, seen: object = "") -> str:
    """The sentence, when it is true; Failed with what was seen instead."""
    if not fine:
        raise Failed(f"not so: {says}; seen: {seen}")
    return says


def _walls(system: System) -> Iterator[str]:
    for part in RUNNING:
        status, uid = system.status(part), wanted_uid(part)
        _must(status["Uid"].split() == [str(uid)] * 4, f"{part} runs as uid {uid}", status["Uid"])
        held = {
            name: status[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb") if int(status[name], 16)
        }
        _must(not held, f"{part} holds no capability", held)
        _must(status["NoNewPrivs"] == "1", f"{part} can gain no privileges")
        _must(system.root_is_read_only(part), f"{part} cannot write to its image")
    yield f"{len(RUNNING)} containers: own uid, no capability, no new privileges, read-only root"


def _ports(system: System) -> Iterator[str]:
    found = system.published()
    yield _must(
        found == {"nginx": [f"127.0.0.1:{system.port}"]}, f"only nginx is published, on 127.0.0.1:{system.port}", found
    )


def _ways_out(system: System) -> Iterator[str]:
    """connectors reaches a server on this machine through its way out; the others have not even a route."""
    inside = [part for part in RUNNING if part not in ("connectors", "nginx")]
    out = [part for part in inside if system.way_out(part)]
    yield _must(not out, f"no way out for {', '.join(inside)}", out)
    yield _must(system.way_out("connectors"), "connectors has a way out")
    with _server(f"{system.net}.5.1") as port:
        yield _must(system.opens("connectors", f"{system.net}.5.1", port), "connectors opens a connection on it")
        reached = [part for part in inside if system.opens(part, f"{system.net}.5.1", port)]
        yield _must(not reached, "nobody else does", reached)


@contextmanager
def _server(address: str) -> Iterator[int]:
    """On this machine's end of the outward network."""
    server = http.server.ThreadingHTTPServer((address, 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def _between(system: System) -> Iterator[str]:
    """From the bus no page answers, from a front's network no other front, and nothing but the bus listens there."""
    pages = {"console": (22, 8420, 1), "site": (23, 8421, 2), "agent": (21, 8422, 3)}
    for part, (number, port, front) in pages.items():
        _must(not system.opens("bridge", f"{system.net}.0.{number}", port), f"{part}'s pages do not answer on the bus")
        _must(system.opens("nginx", f"{system.net}.{front}.3", port), f"nginx reaches {part}'s pages")
        others = [other for other in pages if other != part and system.opens(other, f"{system.net}.{front}.3", port)]
        _must(not others, f"no other surface reaches {part}'s pages", others)
    yield "pages answer to nginx alone: not on the bus, not to another surface"


def _wrong_uid(system: System) -> Iterator[str]:
    """S9: a container under another number does not start, and says why."""
    hard = ["--rm", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none"]
    done = system.podman.run("run", *hard, "--user", "8422:8422", "localhost/schleuse/app:1", "site", check=False)
    said = done.stdout + done.stderr
    yield _must(
        done.returncode == 78 and "8423" in said and "user" in said,
        "site under console's uid does not start, and says which number it must have",
        said,
    )
    loose = system.podman.run(
        "run", "--rm", "--network", "none", "--user", "8423:8423", "localhost/schleuse/app:1", "site", check=False
    )
    yield _must(loose.returncode == 78, "site with a writable root and capabilities is refused")
