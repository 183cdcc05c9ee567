"""The ledger laid open behind the agent's back: prove finds what could then be spent unseen, rewritten or read."""

import asyncio
from collections.abc import Awaitable

import pytest

from infra.postgres.core import declared
from infra.prove.areas.spend import check_rows, check_sums
from infra.prove.check import Book
from infra.prove.target import Target
from services.agent.spend.tables import SQL
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, failures, rows

pytestmark = pytest.mark.stack


def put(stack: Stack, statement: str) -> None:
    """As it stands, lines and all: its text is compared with the declaration."""
    answer = stack.ask_database("pgadm", "agent_db", statement)
    assert isinstance(answer, list), answer


def hole(name: str, found_by: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_rows, found_by, "agent_db", plant, heal)


def granted(name: str, found_by: str, right: str) -> Hole:
    return hole(name, found_by, f"GRANT {right} TO agent", f"REVOKE {right} FROM agent")


[KEEPS] = [each for each in SQL if "CREATE OR REPLACE FUNCTION core.keep_spending(" in each]
NOTHING = "RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $f$ BEGIN RETURN NULL; END $f$"
BOUNDED = "CHECK (cost >= 0 AND cost <= reserved)"
LIFE = "CHECK (expires_at <= at + interval '10 minutes 1 second')"
HOLES = [
    granted("reservations that are made smaller", "make a reservation smaller", "UPDATE (amount) ON core.reservations"),
    granted("reservations of another day", "a reservation of yesterday", "INSERT (at) ON core.reservations"),
    granted("sums that the agent takes away", "take sums away", "DELETE ON core.spend_minutes"),
    hole("a ledger that is emptied", "delete a row of the ledger", "GRANT DELETE ON core.usage_ledger TO agent\nALTER TABLE core.usage_ledger DISABLE TRIGGER no_change", "REVOKE DELETE ON core.usage_ledger FROM agent\nALTER TABLE core.usage_ledger ENABLE ALWAYS TRIGGER no_change"),
    hole("a ledger that is rewritten", "rewrite what a call cost", "GRANT UPDATE (cost) ON core.usage_ledger TO agent\nALTER TABLE core.usage_ledger DISABLE TRIGGER no_change", "REVOKE UPDATE (cost) ON core.usage_ledger FROM agent\nALTER TABLE core.usage_ledger ENABLE ALWAYS TRIGGER no_change"),
    granted("rows with an old time", "a row with a time of its own", "INSERT (at) ON core.usage_ledger"),
    hole("rows that cost more than was reserved", "for more than was reserved", "ALTER TABLE core.usage_ledger DROP CONSTRAINT usage_ledger_cost", f"ALTER TABLE core.usage_ledger ADD CONSTRAINT usage_ledger_cost {BOUNDED}"),
    hole("reservations without an end", "a reservation for a day", "ALTER TABLE core.reservations DROP CONSTRAINT reservations_life", f"ALTER TABLE core.reservations ADD CONSTRAINT reservations_life {LIFE}"),
    Hole("sums that are not kept", check_rows, "not in the sums", lambda stack: put(stack, f"CREATE OR REPLACE FUNCTION core.keep_spending() {NOTHING}"), lambda stack: put(stack, KEEPS)),
    hole("a ledger that everybody reads", "read what another owner spent", "CREATE POLICY open ON core.reservations FOR SELECT USING (true)", "DROP POLICY open ON core.reservations"),
    hole("a ledger without owners", "a reservation of another owner", "ALTER TABLE core.reservations DISABLE ROW LEVEL SECURITY\nALTER TABLE core.usage_ledger DISABLE ROW LEVEL SECURITY", "ALTER TABLE core.reservations ENABLE ROW LEVEL SECURITY\nALTER TABLE core.usage_ledger ENABLE ROW LEVEL SECURITY"),
    by_sql("a second function with its owner's rights", check_sums, "the one function", "agent_db", "CREATE FUNCTION app.open() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'", "DROP FUNCTION app.open()"),
    by_sql("a sum that was changed", check_sums, "the sums by minute", "agent_db", "INSERT INTO core.spend_minutes VALUES ('user', 'planted', date_trunc('minute', now()), -5, 0)", "DELETE FROM core.spend_minutes WHERE owner_id = 'planted'"),
    by_sql("a copy that leaves something out", check_sums, "its copy of the ledger", "console_db", "INSERT INTO app.spend SELECT gen_random_uuid(), gen_random_uuid(), 'user', 'planted', now(), now() - interval '1 hour', 'settled', '', '', '', '', '', 1, 1, 0, 1, false", "DELETE FROM app.spend WHERE owner_id = 'planted'"),
]  # fmt: skip


def examine_all(target: Target, book: Book) -> Awaitable[object]:
    return asyncio.gather(check_rows(target, book), check_sums(target, book))


def test_planted_holes_in_the_ledger_are_found(proving: Proving) -> None:
    """All at once, each by the attempt that would use it; and nothing is wrong once they are closed."""
    stack, target = proving.stack, Target.load(proving.stack.state)
    try:
        for each in HOLES:
            each.plant(stack)
        found = [f"{check.attempt} {check.got}" for check in failures(rows(examine_all, target))]
    finally:
        for each in reversed(HOLES):
            each.heal(stack)
    missed = [each.name for each in HOLES if not any(each.found_by in row for row in found)]
    assert not missed, found
    left = failures(rows(examine_all, Target.load(stack.state)))
    assert not left, [str(check) for check in left]


def test_every_divided_table_of_the_ledger_is_declared_so() -> None:
    assert {"usage_ledger", "reservations", "spend_minutes"} <= declared("agent").owned
