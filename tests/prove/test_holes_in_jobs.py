"""Holes around cleanup jobs: one that nobody switched on, one that was edited afterwards, a protected table, a foreign key that carries a deletion further (rule 13, S15)."""

from uuid import UUID

import pytest

from infra.prove.areas.jobs import check_rows, check_senders
from schemas.text import canonical
from schemas.work import CleanupJob, Condition, JobSetting
from shared.clock import now
from shared.signing import SigningKey
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, run, see
from tests.prove.test_holes_on_the_bus import edited

pytestmark = pytest.mark.stack
CONSOLE = "console_db"
ID = UUID(int=47)
OLD = Condition(column="at", op="older_than", value="90")
JOB = CleanupJob(name="Prove", app="platform", table="feedback", conditions=(OLD,), schedule="every Sunday", zone="UTC")
GONE = f"DELETE FROM app.job_settings WHERE job_id = '{ID}'\nDELETE FROM app.jobs WHERE job_id = '{ID}'"


def on(job: CleanupJob = JOB, said: CleanupJob = JOB, key: SigningKey | None = None) -> str:
    """A job that is on, and the word on it if there is a key; far in the future, so that it never runs."""
    text = canonical(job.model_dump(mode="json")).decode().replace("'", "''")
    kept = f"'{ID}', '{text}', '{job.hash}', '{job.app}', '{job.table}', 'Prove', 'p', 'Prove', 'Prove', now(), 'on', 1, '2990-01-01'"
    made = f"INSERT INTO app.jobs (job_id, job, job_hash, app_slug, table_name, name, owner_id, owner_name, made_by, made_at, state, version, next_at) VALUES ({kept})"
    if key is None:
        return made
    statement = JobSetting(
        key_id=key.key_id, job_id=ID, job_hash=said.hash, setting="on", dry_run_rows=1, decided_at=now(), decider="0" * 64, prior_version=0
    )  # fmt: skip
    signed = key.sign(statement)
    word = f"'{signed.hash}', '{ID}', 'on', '\\x{signed.payload.hex()}', '\\x{signed.signature.hex()}', '{signed.key_id}', '', 'p', 'Prove', 'console', now(), 1"
    return f"{made}\nINSERT INTO app.job_settings (statement_hash, job_id, setting, payload, signature, key_id, opening, by_id, by_name, by_via, at, version) VALUES ({word})"


def ours(stack: Stack) -> SigningKey:
    return SigningKey.load(stack.layout.keys / "console" / "decision.key")


def by_nobody(stack: Stack) -> None:
    run(stack, CONSOLE, on())


def by_stranger(stack: Stack) -> None:
    run(stack, CONSOLE, on(key=SigningKey(b"x" * 32)))


def edited_afterwards(stack: Stack) -> None:
    run(
        stack,
        CONSOLE,
        on(JOB.model_copy(update={"conditions": (OLD.model_copy(update={"value": "1"}),)}), JOB, ours(stack)),
    )


def about_the_audit(stack: Stack) -> None:
    audit = JOB.model_copy(update={"table": "calls"})
    run(stack, CONSOLE, on(audit, audit, ours(stack)))


def heal(stack: Stack) -> None:
    run(stack, CONSOLE, GONE)


def agent_may_answer_itself(text: str) -> str:
    return text.replace('"from.agent.job.proposed"', '"from.>"')


SIGNED = "does what a person signed for"
TABLES = """CREATE SCHEMA app_prove47
CREATE TABLE app_prove47.parent (id bigint PRIMARY KEY)
CREATE TABLE app_prove47.child (parent bigint REFERENCES app_prove47.parent ON DELETE CASCADE)"""
HOLES = [
    Hole("a job that was edited after it was switched on", check_rows, SIGNED, edited_afterwards, heal),
    by_sql("a foreign key that takes rows with it", check_rows, "take others with them", CONSOLE, TABLES, "DROP SCHEMA app_prove47 CASCADE"),
]  # fmt: skip
MORE = [
    Hole("a job that nobody switched on", check_rows, SIGNED, by_nobody, heal),
    Hole("a job that a stranger switched on", check_rows, SIGNED, by_stranger, heal),
    Hole("a job about the call audit", check_rows, SIGNED, about_the_audit, heal),
    edited("an agent that answers its own proposals", agent_may_answer_itself, "publish from.console.proposal.answered", check_senders),
]  # fmt: skip


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named(MORE))
def test_a_planted_hole_is_found_too(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
