"""What somebody planted is a line of `schleuse grants`, with what to do, and gone when it is taken back; where prove looks, it finds it, too.

All holes are planted together: each must be a line, and there must be no other.
"""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest

from infra.local import identities
from infra.local.command import as_user, environment
from infra.observe.grants.line import AREAS, Area, Line
from infra.observe.grants.take import take
from infra.observe.installation import Installation
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.prove.conftest import Proving
from tests.prove.planting import run
from tests.prove.test_holes_on_the_bus import edited, may_publish

pytestmark = pytest.mark.stack
BRIDGE = "console_site_db"
Seen = tuple[str, str, str]
"""Surface, what, state."""


@dataclass(frozen=True)
class Planted:
    """`lines` must be there while it stands."""

    lines: tuple[Seen, ...]
    plant: Callable[[Stack], object]
    heal: Callable[[Stack], object]


def by_sql(seen: Seen | tuple[Seen, ...], database: str, plant: str, heal: str) -> Planted:
    lines = seen if isinstance(seen[0], tuple) else (seen,)
    return Planted(lines, lambda stack: run(stack, database, plant), lambda stack: run(stack, database, heal))  # type: ignore[arg-type]


def mode(place: str, surface: str, loose: int, tight: int) -> Planted:
    def change(to: int) -> Callable[[Stack], object]:
        return lambda stack: (stack.layout.state / place).chmod(to)

    return Planted(((surface, place, "different"),), change(loose), change(tight))


STRAY = "keys/site/second.key"
ONE_RIGHT_MORE = edited("one right more", may_publish, "")
PEEK = "CREATE FUNCTION core.peek() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'"
LOOSE_CHECK = "ALTER TABLE core.decisions DROP CONSTRAINT decisions_by_people\nALTER TABLE core.decisions ADD CONSTRAINT decisions_by_people CHECK (via <> '')"
KEPT_CHECK = LOOSE_CHECK.replace("via <> ''", "via IN ('console', 'api', 'operator')")

HOLES = [
    by_sql(("bridge", "core.gate_log: site may", "extra"), BRIDGE, "GRANT SELECT ON core.gate_log TO site", "REVOKE SELECT ON core.gate_log FROM site"),
    by_sql(("bridge", "core.decisions: bridge may", "different"), BRIDGE, "GRANT UPDATE (verdict) ON core.decisions TO bridge", "REVOKE UPDATE (verdict) ON core.decisions FROM bridge"),
    by_sql(("console", "database console_db: site may", "extra"), "postgres", "GRANT CONNECT ON DATABASE console_db TO site", "REVOKE CONNECT ON DATABASE console_db FROM site"),
    by_sql((("bridge", "function core.peek(): owner", "extra"), ("bridge", "function core.peek(): PUBLIC may", "extra"), ("bridge", "core.peek(): definition", "extra")), BRIDGE, PEEK, "DROP FUNCTION core.peek()"),
    by_sql(("site", "system function pg_read_file(text)", "extra"), "site_db", "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO site", "REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM site"),
    by_sql(("bridge", "role bridge is a member of bridge_owner", "extra"), "postgres", "GRANT bridge_owner TO bridge", "REVOKE bridge_owner FROM bridge"),
    by_sql(("connectors", "role connectors", "different"), "postgres", "ALTER ROLE connectors CREATEDB", "ALTER ROLE connectors NOCREATEDB"),
    by_sql(("agent", "role agent", "different"), "postgres", "ALTER ROLE agent PASSWORD 'not-shown'", "ALTER ROLE agent PASSWORD NULL"),
    by_sql(("console", "default: what console makes, type r: site may", "extra"), "console_db", "ALTER DEFAULT PRIVILEGES FOR ROLE console GRANT SELECT ON TABLES TO site", "ALTER DEFAULT PRIVILEGES FOR ROLE console REVOKE SELECT ON TABLES FROM site"),
    by_sql(("bridge", "core.decisions: constraint decisions_by_people", "different"), BRIDGE, LOOSE_CHECK, KEPT_CHECK),
    by_sql(("bridge", "core.gate_log: trigger check_gate_entry", "different"), BRIDGE, "ALTER TABLE core.gate_log DISABLE TRIGGER check_gate_entry", "ALTER TABLE core.gate_log ENABLE ALWAYS TRIGGER check_gate_entry"),
    by_sql(("console", "row security of app.versions", "extra"), "console_db", "ALTER TABLE app.versions FORCE ROW LEVEL SECURITY", "ALTER TABLE app.versions NO FORCE ROW LEVEL SECURITY"),
    by_sql(("site", "table app.left_behind: owner", "extra"), "site_db", "CREATE TABLE app.left_behind (secret text)", "DROP TABLE app.left_behind"),
    mode("keys/console/decision.key", "console", 0o644, 0o600),
    mode("run/report", "installation", 0o755, 0o750),
    Planted((("site", STRAY, "extra"),), lambda stack: (stack.layout.state / STRAY).write_text(""), lambda stack: (stack.layout.state / STRAY).unlink()),
    Planted((("site", "account SITE: of site allow publish: from.console.item.decided", "extra"), ("nats", "nats/kept.conf", "extra")), ONE_RIGHT_MORE.plant, ONE_RIGHT_MORE.heal),
]  # fmt: skip
LISTENER = "import socket, sys\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nprint(s.getsockname()[1], flush=True)\nsys.stdin.read()"


def look(stack: Stack, areas: Sequence[Area] = AREAS) -> list[Line]:
    """Only what is not right."""

    async def taking() -> list[Line]:
        here = Installation.load(stack.state)
        try:
            return [line for line in await take(here, areas) if not line.is_right]
        finally:
            await here.close()

    return asyncio.run(taking())


def seen(lines: Sequence[Line]) -> set[Seen]:
    return {(line.surface, line.what, line.state) for line in lines}


@contextmanager
def listening_as_site(stack: Stack) -> Iterator[str]:
    """A process of the site's OS user that listens on a port of its own; the port."""
    command = as_user(identities.resolve(), "site", [str(stack.runtime.python), "-c", LISTENER])
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd="/", env=environment(stack.runtime), stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def test_everything_that_was_planted_is_found_and_nothing_else(proving: Proving) -> None:
    stack = proving.stack
    until((stack.layout.run / "report" / "grants.json").exists, 60, "the first inventory is written")
    with ExitStack() as healing:
        for hole in HOLES:
            healing.callback(hole.heal, stack)
            hole.plant(stack)
        port = healing.enter_context(listening_as_site(stack))
        found = look(stack)
        told = stack.run("grants", "--area", "postgres", "--diff")
        proved = json.loads(stack.run("prove", "--area", "grants", "--json").stdout)
    expected = {line for hole in HOLES for line in hole.lines} | {("site", f"port 127.0.0.1:{port}", "extra")}
    assert seen(found) == expected
    assert all(line.hint for line in found), "each says what to do"
    assert "not-shown" not in f"{found}{told.stdout}"
    assert told.returncode == 1
    assert "database console_db: site may" in told.stdout and "schleuse down" in told.stdout
    wrong = {check["actor"] for check in proved["checks"] if not check["ok"]}
    assert wrong >= {line[0] for line in expected}
    assert look(stack) == []


def test_the_command_is_for_programs_too(proving: Proving) -> None:
    stack = proving.stack
    found = json.loads(stack.run("grants", "--area", "users", "--area", "files", "--json").stdout)
    assert found["differences"] == 0, [line for line in found["lines"] if line["state"] != "expected"]
    assert {line["area"] for line in found["lines"]} == {"users", "files"}
    assert stack.run("grants", "--area", "weather").returncode == 2


def test_what_cannot_be_read_is_unknown_and_never_right(proving: Proving) -> None:
    stack = proving.stack
    pid = stack.pids()["nats"]
    os.kill(pid, signal.SIGSTOP)
    try:
        found = look(stack, ["bus"])
    finally:
        os.kill(pid, signal.SIGCONT)
        until(stack.green, 30, "the bus is back")
    assert seen(found) == {("nats", "streams and durables", "unknown")}
    assert found[0].hint
