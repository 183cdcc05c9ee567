"""The command on a sound system: nothing fails, quickly, and everything is afterwards as it was before."""

import contextlib
import json
from typing import Any

import pytest

from infra.prove.areas import bus, database, files
from infra.prove.areas.all import AREAS
from infra.prove.check import Check
from infra.prove.target import Target
from shared.testing.servers import Servers
from tests.factories.people import become_owner
from tests.factories.stack import DATABASES, Stack
from tests.factories.waiting import until
from tests.prove.conftest import Proving
from tests.prove.planting import run

FEWEST, LONGEST_SECONDS = 200, 60
TRANSIENT = (
    *("app.inbox", "app.outbox", "app.sent", "app.todo", "core.crossings", "app.sealed_heads"),
    *("app.sign_in_codes", "app.used_tokens"),
    *(
        "core.call_audit",
        "core.checkpoints",
        "core.witnesses",
        "core.audit_checkpoints",
        "app.calls",
        "app.warehouse_todo",
        "app.audit_checkpoints",
    ),
    *("core.usage_ledger", "core.spend_minutes", "app.spend"),
    *("core.access", "core.delegations", "app.delegations"),
)
"""What records that something was sent and refused: a forged event was, and a forged sign-in, for a minute. The call audit grows by itself, and with it what ClickHouse is to be told:
health is checked, and what was refused is an entry. A guest's turn leaves a line of the ledger, and a key that was tried stays as a revoked one: no service can
remove either. For whoever has signed in lately a delegation is issued within a minute, at the console and then at the agent."""
TABLES = "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ('app', 'core')"


def counts(stack: Stack) -> dict[str, int]:
    """Rows by service and table, of everything that must not change."""
    found = {}
    for service in DATABASES:
        names = [row["name"] for row in stack.rows(service, TABLES) if row["name"] not in TRANSIENT]
        each = " UNION ALL ".join(f"SELECT '{name}' AS name, count(*) AS rows FROM {name}" for name in names)
        found |= {f"{service} {row['name']}": row["rows"] for row in stack.rows(service, each)}
    return found


@pytest.mark.stack
def test_a_sound_system_is_clean_and_stays_as_it_was(proving: Proving) -> None:
    stack = proving.stack
    before = counts(stack)
    found: dict[str, Any] = json.loads(stack.run("prove", "--json", timeout=120).stdout)
    assert found["failed"] == 0, [check for check in found["checks"] if not check["ok"]][:10]
    kept_in = stack.cli("status")["egress_separation"]
    assert {check["area"] for check in found["checks"] if check["got"].startswith("open")} <= set(() if kept_in else ("egress", "grants"))  # fmt: skip
    assert len(found["checks"]) >= FEWEST
    assert found["seconds"] < LONGEST_SECONDS
    assert {check["area"] for check in found["checks"]} == set(AREAS)
    assert all(check.keys() >= {"area", "actor", "attempt", "expected", "got", "ok"} for check in found["checks"])
    with contextlib.suppress(AssertionError):
        until(lambda: counts(stack) == before, 15)
    after = counts(stack)
    assert {name: rows for name, rows in after.items() if rows != before.get(name)} == {}, "every database is as it was"
    stack.becomes_green(30)


@pytest.mark.stack
def test_it_says_the_same_thing_to_people(proving: Proving) -> None:
    done = proving.stack.run("prove", "--area", "chain")
    assert done.returncode == 0, done.stdout
    assert "0 failed" in done.stdout


@pytest.mark.stack
def test_any_difference_is_an_exit_code(proving: Proving) -> None:
    try:
        run(proving.stack, "postgres", "ALTER ROLE agent PASSWORD 'secret'")
        done = proving.stack.run("prove", "--area", "database", "--json")
    finally:
        run(proving.stack, "postgres", "ALTER ROLE agent PASSWORD NULL")
    found: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, found["failed"]) == (1, 1)
    [wrong] = [check for check in found["checks"] if not check["ok"]]
    assert wrong["attempt"] == "no role has a password"


@pytest.mark.stack
def test_an_unknown_area_and_a_stopped_system_are_refused(proving: Proving) -> None:
    assert proving.stack.run("prove", "--area", "weather").returncode == 2


@pytest.mark.stack
def test_nothing_to_prove_where_nothing_runs(servers: Servers) -> None:
    """Postgres and NATS alone have no supervisor to ask."""
    stack = Stack(servers.state)
    assert stack.run("prove").returncode == 3


async def test_without_os_users_those_rows_are_open_and_never_right(servers: Servers) -> None:
    made = servers.prepared
    pids = {part: process.pid for part, process in servers.processes.items()}
    checks: list[Check] = []
    target = Target(made.layout, made.config, made.who, made.runtime, pids)
    for area in (database, bus, files):
        checks += await area.check(target)
    await target.close()
    still_open = [check for check in checks if check.is_open]
    assert len(still_open) > 50
    assert not any(check.ok or check.failed for check in still_open)
    assert {check.area for check in still_open} == {"database", "files"}
    absent = (
        "op.sock",
        "supervisor.sock",
        "processes.json",
        "its command line says",
        "config.json",
        "owner, group, mode",
    )
    wrong = [check for check in checks if check.failed and not any(word in check.attempt for word in absent)]
    assert not wrong, wrong[:5]


@pytest.mark.stack
def test_a_site_that_is_off_is_proved_as_one_that_is_off(proving: Proving) -> None:
    stack, owner = proving.stack, become_owner(proving.stack)

    def switch(value: str) -> None:
        assert owner.send("/switches/site_mode", "/me", value=value, reason="a test needs it").status_code == 303
        until(
            lambda: (
                (stack.value("site", "SELECT count(*) FROM app.gate_entries WHERE kind = 'site_mode'") or 0) > seen[0]
            ),
            20,
            value,
        )
        seen[0] += 1

    seen = [0]
    switch("off")
    try:
        found = stack.cli("prove", "--area", "http", "--area", "statements", "--area", "site rows", timeout=120)
    finally:
        switch("open")
    assert found["failed"] == 0, [check for check in found["checks"] if not check["ok"]][:10]
    assert any("the site is off" in check["attempt"] for check in found["checks"])


@pytest.mark.stack
def test_two_runs_at_once_would_take_each_others_decoys_for_holes(proving: Proving) -> None:
    with Target.load(proving.stack.state).alone():
        done = proving.stack.run("prove", "--area", "chain")
    assert done.returncode == 2
    assert "already running" in done.stderr
