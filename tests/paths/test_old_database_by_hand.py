"""One database put back by hand, the others left as they are: the gate's log tells (S6)."""

from collections.abc import Iterator

import pytest

from tests.factories.documents import Item, decide, submit, withdraw
from tests.factories.stack import Stack, running_stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture
def own() -> Iterator[Stack]:
    with running_stack(own=True) as found:
        yield found


def public_then_withdrawn(stack: Stack) -> tuple[Item, int]:
    """An item that is gone, and the place in the log where it was still public."""
    stays, goes = (submit(stack, f"# {name}\n\nA page.\n") for name in ("Stays", "Goes"))
    for item in (stays, goes):
        decide(stack, item)
    until(lambda: Visitor(stack).sees(goes), 30)
    seq = stack.value("bridge", "SELECT max(seq) FROM core.gate_log")
    withdraw(stack, goes)
    until(lambda: not Visitor(stack).sees(goes), 30)
    return goes, seq


def put_back(stack: Stack, service: str, text: str) -> None:
    answer = stack.ask_database(
        "pgadm", {"bridge": "console_site_db", "site": "site_db"}[service], f"DO $$ BEGIN {text} END $$"
    )
    assert isinstance(answer, list), answer


def restart(stack: Stack, *parts: str) -> None:
    for part in parts:
        pid = stack.kill(part)
        until(lambda part=part, pid=pid: stack.pids().get(part, pid) != pid, 60, f"{part} was started again")


def test_an_old_database_of_the_site_catches_up_before_it_shows_anything(own: Stack) -> None:
    goes, seq = public_then_withdrawn(own)
    old = f"""SET LOCAL session_replication_role = replica; DELETE FROM app.gate_entries WHERE seq > {seq};
      UPDATE app.site_state SET seq = {seq}, reported_seq = {seq}, hash = (SELECT hash FROM app.gate_entries WHERE seq = {seq});
      DELETE FROM app.tombstones; DELETE FROM app.sealed_heads; DELETE FROM app.outbox WHERE name = 'item.applied' AND keyversion > {seq};"""
    put_back(own, "site", old)
    restart(own, "site")
    until(own.green, 120, "the site has caught up", 0.5)
    assert not Visitor(own).sees(goes)
    assert own.value("site", "SELECT max(seq) FROM app.gate_entries") == seq + 1


def test_an_old_database_of_the_lock_shuts_the_site(own: Stack) -> None:
    _, seq = public_then_withdrawn(own)
    old = f"""ALTER TABLE core.gate_log DISABLE TRIGGER no_change; DELETE FROM core.gate_log WHERE seq > {seq};
      ALTER TABLE core.gate_log ENABLE ALWAYS TRIGGER no_change;"""
    put_back(own, "bridge", old)
    restart(own, "bridge", "site")
    until(lambda: "an old backup was put back" in str(own.status()), 90, "the site says why it shows nothing", 0.5)
    assert not own.ready()
