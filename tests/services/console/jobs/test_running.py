"""Cleanup jobs on a real database: what goes, what stays, what stops them, and how rows come back (rule 13, S15, DB-06)."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from schemas.work import Condition
from services.console.forgetting.usecases.forget_subject import forget_subject
from services.console.jobs import store
from services.console.jobs.keeper import JobKeeper
from services.console.jobs.usecases.start_run import start_due
from services.console.live import Live
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused
from tests.services.console.jobs.conftest import Workplace


async def test_db_06_only_what_is_older_than_ninety_days_of_24_hours_goes(workplace: Workplace) -> None:
    await workplace.add_run("younger", -1)
    await workplace.add_run("older", 1)
    await workplace.add_run("undated", None)
    job_id = await workplace.make(workplace.job())
    seen = await workplace.dry_run(job_id)
    assert (seen.rows, seen.undated, seen.referenced) == (1, 1, 0) and seen.bytes and len(seen.keys_hash) == 64
    assert await workplace.names() == {"younger", "older", "undated"}
    await workplace.switch(job_id)
    run = await workplace.run(job_id)
    assert (run["state"], run["deleted"], run["undated"], run["bytes"]) == ("done", 1, 1, seen.bytes)
    assert await workplace.names() == {"younger", "undated"}


async def test_db_06_the_owners_sunday_counts_wherever_the_server_is(workplace: Workplace) -> None:
    job_id = await workplace.make(workplace.job())
    await workplace.dry_run(job_id)
    await workplace.switch(job_id)
    async with workplace.desk.db.reading() as tx:
        row = await store.one(tx, job_id)
    assert row is not None
    there = row["next_at"].astimezone(ZoneInfo("Pacific/Auckland"))
    assert (there.isoweekday(), there.hour, there.minute) == (7, 3, 0)


async def test_what_was_deleted_comes_back_as_it_was(workplace: Workplace) -> None:
    number = await workplace.add_run("old “one”", 5)
    before = await workplace.desk.rows(f'SELECT * FROM "{workplace.app.schema_name}".vsg_runs')
    run = await workplace.run(await workplace.switched_on(workplace.job()))
    assert run["deleted"] == 1 and await workplace.names() == set()
    assert await workplace.restore(run["run_id"]) == (1, 0)
    assert await workplace.desk.rows(f'SELECT * FROM "{workplace.app.schema_name}".vsg_runs') == before
    assert before[0]["id"] == number
    history = await workplace.desk.rows("SELECT what, how, before FROM app.record_history WHERE app = $1 ORDER BY position", workplace.app.slug)  # fmt: skip
    assert [(each["what"], each["how"], each["before"]) for each in history] == [("deleted", "job", None), ("added", "restore", None)]  # fmt: skip


async def test_a_row_whose_key_is_there_again_stays_in_the_trash(workplace: Workplace) -> None:
    number = await workplace.add_run("old", 5)
    run = await workplace.run(await workplace.switched_on(workplace.job()))
    async with workplace.desk.db.transaction() as tx:
        await tx.raw.execute(f'INSERT INTO "{workplace.app.schema_name}".vsg_runs (id, name) OVERRIDING SYSTEM VALUE VALUES ($1, $2)', number, "new")  # fmt: skip
    assert await workplace.restore(run["run_id"]) == (0, 1)
    assert await workplace.names() == {"new"}


async def test_rows_that_others_refer_to_stay_and_are_counted(workplace: Workplace) -> None:
    number = await workplace.add_run("held", 5)
    await workplace.add_run("free", 5)
    async with workplace.desk.db.transaction() as tx:
        await tx.raw.execute(f'INSERT INTO "{workplace.app.schema_name}".notes (run, text) VALUES ($1, $2)', number, "keep")  # fmt: skip
    run = await workplace.run(await workplace.switched_on(workplace.job()))
    assert (run["deleted"], run["referenced"]) == (1, 1)
    assert await workplace.names() == {"held"}


async def test_a_run_of_over_twice_its_dry_run_stops_and_deletes_nothing(workplace: Workplace) -> None:
    await workplace.add_run("one", 5)
    job_id = await workplace.switched_on(workplace.job())
    for each in ("two", "three"):
        await workplace.add_run(each, 5)
    run = await workplace.run(job_id)
    assert run["state"] == "stopped" and "over twice" in run["error"] and run["deleted"] == 0
    assert await workplace.state(job_id) == "stopped"
    assert await workplace.names() == {"one", "two", "three"}


async def test_a_job_that_was_edited_after_it_was_switched_on_deletes_nothing(workplace: Workplace) -> None:
    await workplace.add_run("old", 5)
    job_id = await workplace.switched_on(workplace.job())
    async with workplace.desk.db.transaction() as tx:
        await tx.raw.execute("UPDATE app.jobs SET job = replace(job, '\"90\"', '\"1\"'), next_at = clock_timestamp() WHERE job_id = $1", job_id)  # fmt: skip
    with pytest.raises(Refused, match="changed afterwards"):
        await workplace.run(job_id)
    await workplace.keeper.look_once()
    assert await workplace.state(job_id) == "stopped"
    assert await workplace.names() == {"old"}


async def test_a_foreign_key_that_would_delete_elsewhere_stops_the_job(workplace: Workplace) -> None:
    await workplace.add_run("old", 5)
    job_id = await workplace.switched_on(workplace.job())
    schema = workplace.app.schema_name
    async with workplace.desk.db.transaction() as tx:
        await tx.raw.execute(f'ALTER TABLE "{schema}".notes ADD CONSTRAINT pulled FOREIGN KEY (run) REFERENCES "{schema}".vsg_runs (id) ON DELETE CASCADE')  # fmt: skip
    run = await workplace.run(job_id)
    assert run["state"] == "stopped" and "reach into" in run["error"]
    assert await workplace.names() == {"old"}


@pytest.mark.parametrize("table", ["calls", "audit_checkpoints", "spend", "decisions", "people", "job_trash", "turns"])
async def test_protected_tables_are_refused(workplace: Workplace, table: str) -> None:
    with pytest.raises(Refused, match="rule 13"):
        await workplace.make(workplace.job(app="platform", table=table))


async def test_conditions_that_mean_nothing_are_refused_in_words(workplace: Workplace) -> None:
    for wrong, words in (
        (Condition(column="nope", op="empty"), "no column nope"),
        (Condition(column="status", op="older_than", value="3"), "only a date"),
        (Condition(column="cost", op="less", value="x"), "no value of cost"),
        (Condition(column="status", op="greater", value="x"), "less or greater"),
        (Condition(column="started_at", op="older_than", value="0"), "from 1 to"),
        (Condition(column="started_at", op="older_than", value="0000000019999999999"), "from 1 to"),
        (Condition(column="started_at", op="less", value="9999-12-31T23:59:59-14:00"), "no value of started_at"),
        (Condition(column="started_at", op="greater", value="0001-01-01T00:00:00+14:00"), "no value of started_at"),
        (Condition(column="cost", op="less", value="NaN"), "no value of cost"),
        (Condition(column="cost", op="less", value="1e999999999"), "no value of cost"),
    ):
        with pytest.raises(Refused, match=words):
            await workplace.make(workplace.job(wrong))


async def test_a_time_of_a_job_runs_once_whoever_looks(workplace: Workplace) -> None:
    await workplace.add_run("old", 5)
    job_id = await workplace.switched_on(workplace.job())
    async with workplace.desk.db.reading() as tx:
        row = await store.one(tx, job_id)
    assert row is not None
    due = row["next_at"]
    later = due + timedelta(hours=1)
    async with workplace.desk.db.transaction() as tx:
        await tx.raw.execute("UPDATE app.jobs SET next_at = NULL WHERE job_id <> $1 AND state = 'on'", job_id)
        first = await start_due(tx, workplace.ring, "one", later)
    assert first is not None and first.run_id is not None
    async with workplace.desk.db.transaction() as tx:
        await tx.raw.execute("UPDATE app.jobs SET next_at = $2 WHERE job_id = $1", job_id, due)
        second = await start_due(tx, workplace.ring, "two", later)
    assert second is not None and second.run_id is None
    rows = await workplace.desk.rows("SELECT how, nominal_at FROM app.job_runs WHERE job_id = $1", job_id)
    assert [(each["how"], each["nominal_at"]) for each in rows] == [("late", due)]


async def test_a_switch_takes_a_dry_run_of_exactly_this_job(workplace: Workplace) -> None:
    job_id = await workplace.make(workplace.job())
    with pytest.raises(Refused, match="no dry run"):
        await workplace.switch(job_id)
    await workplace.dry_run(job_id)
    await workplace.switch(job_id)
    with pytest.raises(Conflict):
        await workplace.switch(job_id)
    await workplace.switch(job_id, "off")
    with pytest.raises(Refused, match="Switch it on first"):
        await workplace.run(job_id)


async def test_the_platforms_own_tables_where_it_is_allowed(workplace: Workplace) -> None:
    old = now() - timedelta(days=400)
    async with workplace.desk.db.transaction() as tx:
        insert = "INSERT INTO app.notices (id, person_id, kind, text, place, at, read_at) VALUES (gen_random_uuid(), $1, 'card', 'x', '/', $2, $3)"
        await tx.raw.execute(insert, workplace.app.slug, old, old)
        await tx.raw.execute(insert, workplace.app.slug, old, None)
    mine = Condition(column="person_id", op="equals", value=workplace.app.slug)
    old_ones = Condition(column="at", op="older_than", value="30")
    job = workplace.job().model_copy(update={"app": "platform", "table": "notices", "conditions": (old_ones, mine)})
    run = await workplace.run(await workplace.switched_on(job))
    assert (run["state"], run["deleted"]) == ("done", 1)
    left = await workplace.desk.rows("SELECT read_at FROM app.notices WHERE person_id = $1", workplace.app.slug)
    assert [each["read_at"] for each in left] == [None]
    assert await workplace.restore(run["run_id"]) == (1, 0)


async def test_whoever_is_forgotten_is_not_restored(workplace: Workplace) -> None:
    name = f"Ada {workplace.app.slug}"
    await workplace.add_run(name, 5)
    await workplace.add_run(f"{name} too", -1)
    run = await workplace.run(await workplace.switched_on(workplace.job()))
    async with workplace.desk.db.transaction() as tx:
        seen = await forget_subject(tx, name, really=False, records=False)
    assert (seen.cleared["trash"], seen.records) == (1, {f"{workplace.app.slug}.vsg_runs": 1})
    async with workplace.desk.db.transaction() as tx:
        await forget_subject(tx, name, really=True, records=True)
    with pytest.raises(NotFound, match="Nothing of this run"):
        await workplace.restore(run["run_id"])
    assert await workplace.names() == set()


async def test_after_seven_days_the_trash_is_empty_and_history_says_only_that_a_row_went(workplace: Workplace) -> None:
    number = await workplace.add_run("old", 5)
    run = await workplace.run(await workplace.switched_on(workplace.job()))
    async with workplace.desk.db.transaction() as tx:
        insert = "INSERT INTO app.record_history (app, table_name, row_key, what, after, by_id, by_name, how, at) VALUES ($1, 'vsg_runs', $2, 'added', '{}', 'x', 'x', 'page', now() - interval '1 day')"
        await tx.raw.execute(insert, workplace.app.slug, f'["{number}"]')
        await tx.raw.execute("UPDATE app.job_trash SET expires_at = now() WHERE run_id = $1", run["run_id"])
    await workplace.keeper.look_once()
    assert await workplace.desk.rows("SELECT 1 FROM app.job_trash WHERE run_id = $1", run["run_id"]) == []
    left = await workplace.desk.rows("SELECT what FROM app.record_history WHERE app = $1", workplace.app.slug)
    assert [each["what"] for each in left] == ["deleted"]


async def test_after_a_restored_backup_a_job_waits_for_a_person(workplace: Workplace) -> None:
    job_id = await workplace.switched_on(workplace.job())
    keeper = JobKeeper(workplace.desk.db, workplace.ring, Live(), now() + timedelta(seconds=1))
    await keeper.look_once()
    assert await workplace.state(job_id) == "stopped"
    await workplace.dry_run(job_id)
    await workplace.switch(job_id)
    assert await workplace.state(job_id) == "on"
