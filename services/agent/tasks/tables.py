"""Tasks of an owner and what became of each of their times; when something is due, whose it is, and who fires it.

A time of a task is one row, whatever anyone believes; only the holder of the newest lease writes one, and what fires a reminder writes its notification in the
same statement (rule 9).
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    Uuid,
    text,
)

from services.agent.schema import app, core, line, owned, when, written

LEASE_S = 15
"""Seconds that a lease lasts beyond its last renewal, by the database's clock."""
_TASK = ("owner_kind", "owner_id", "task_id")
_NONE = text("''")

tasks = Table(
    "tasks",
    core,
    *owned(),
    Column("task_id", Uuid, primary_key=True),
    line("kind"),
    line("title"),
    line("text"),
    line("rule"),
    line("zone"),
    line("words"),
    line("state"),
    written("created_at"),
    when("next_at"),
    line("next_note", server_default=_NONE),
    Column("held", Boolean, nullable=False, server_default=text("false")),
    Column("revision", BigInteger, nullable=False, server_default="1"),
    Column("notify", Boolean, nullable=False),
    line("misfire"),
    Column("window_s", Integer, nullable=False),
    line("overlap"),
    line("reason", server_default=_NONE),
    line("sources", server_default="[]"),
    Column("conversation_id", Uuid),
    Column("card_id", Uuid),
    Column("instruction_hash", Text),
    CheckConstraint("kind IN ('reminder', 'automation')", name="tasks_kind"),
    CheckConstraint("state IN ('waiting', 'active', 'paused', 'ended')", name="tasks_state"),
    CheckConstraint("misfire IN ('latest', 'skip', 'all')", name="tasks_misfire"),
    CheckConstraint("overlap IN ('skip', 'wait')", name="tasks_overlap"),
    CheckConstraint("state = 'active' OR next_at IS NULL", name="tasks_next"),
    CheckConstraint(
        "kind <> 'automation' OR (card_id IS NOT NULL AND instruction_hash = encode(sha256(convert_to(text, 'UTF8')), 'hex'))",
        name="tasks_instruction",
    ),
    Index("tasks_next", "owner_kind", "owner_id", "next_at"),
)
"""`rule`: JSON of shared/schedules. `next_at` is the nominal time that comes next, `held`: it is over, and waits for the end of a run. `instruction_hash`: what
a person allowed is what the text says, also in the row."""

task_runs = Table(
    "task_runs",
    core,
    *owned(),
    Column("task_id", Uuid, primary_key=True),
    when("nominal_at", primary_key=True),
    line("state"),
    written(),
    when("ended_at"),
    line("reason", server_default=_NONE),
    line("note", server_default=_NONE),
    line("output", server_default=_NONE),
    line("error", server_default=_NONE),
    Column("conversation_id", Uuid),
    Column("turn_id", Uuid),
    Column("count", BigInteger, nullable=False, server_default="1"),
    when("until"),
    Column("fence", BigInteger, nullable=False),
    line("worker", server_default=_NONE),
    CheckConstraint(
        "state IN ('claimed', 'running', 'done', 'failed', 'skipped', 'missed', 'interrupted')", name="task_runs_state"
    ),
    CheckConstraint("count > 0", name="task_runs_count"),
    ForeignKeyConstraint(_TASK, [f"core.tasks.{each}" for each in _TASK], ondelete="CASCADE", name="task_runs_task"),
    Index("task_runs_newest", "owner_kind", "owner_id", "at"),
)
"""What became of a time, or of `count` of them up to `until` that did not run. `fence`: of the lease under which it was written."""

task_lease = Table(
    "task_lease",
    core,
    Column("one", Integer, primary_key=True),
    line("holder"),
    line("part"),
    Column("fence", BigInteger, nullable=False),
    Column("beat", BigInteger, nullable=False),
    when("expires_at", nullable=False),
    CheckConstraint("one = 1", name="task_lease_one"),
)
"""Who fires all tasks: one row. A new holder takes the next `fence`, by which every write of an older one is refused."""

due_tasks = Table(
    "due_tasks",
    app,
    Column("task_id", Uuid, primary_key=True),
    line("owner_kind"),
    line("owner_id"),
    when("due_at", nullable=False),
    Column("revision", BigInteger, nullable=False),
    Index("due_tasks_due", "due_at"),
)
"""When to look at a task, and at which revision: nobody's rows by design, without content (architecture 4)."""

open_runs = Table(
    "open_runs",
    app,
    Column("task_id", Uuid, primary_key=True),
    when("nominal_at", primary_key=True),
    line("owner_kind"),
    line("owner_id"),
    line("worker"),
    written("begun_at"),
    Index("open_runs_worker", "worker"),
)
"""Runs that are under way, and which process works at each: so that what a dead one left is found without asking for anybody's rows."""

TABLES = (tasks, task_runs, task_lease)
OWNED = frozenset({"tasks", "task_runs"})
_OWNER = ["owner_kind", "owner_id"]
CHANGED = [
    "title", "text", "rule", "zone", "words", "state", "next_at", "next_note", "held", "revision", "notify", "misfire", "window_s", "overlap", "reason",
]  # fmt: skip
GRANTS: dict[str, dict[str, Any]] = {
    "tasks": {
        "select": True,
        "insert": [each.name for each in tasks.columns if each.name not in ("created_at", "held", "revision")],
        "update": CHANGED,
        "delete": True,
    },
    "task_runs": {
        "select": True,
        "insert": [each.name for each in task_runs.columns if each.name not in ("at", "output", "error", "turn_id")],
        "update": ["state", "ended_at", "reason", "output", "error", "conversation_id", "turn_id"],
        "delete": True,
    },
    "task_lease": {"select": True, "insert": ["one", "holder", "part"], "update": ["holder", "part", "fence"]},
}

_LEASE = f"""
CREATE OR REPLACE FUNCTION core.keep_task_lease() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.fence := 1; NEW.beat := 1;
  ELSE
    IF NEW.fence NOT IN (OLD.fence, OLD.fence + 1) OR (NEW.fence = OLD.fence) <> (NEW.holder IN (OLD.holder, '')) THEN
      RAISE EXCEPTION 'a lease goes to another holder with the next fence only' USING ERRCODE = '23514';
    END IF;
    NEW.beat := OLD.beat + 1;
  END IF;
  NEW.expires_at := clock_timestamp() + CASE WHEN NEW.holder = '' THEN interval '0' ELSE interval '{LEASE_S} seconds' END;
  RETURN NEW;
END $$"""
"""A holder renews its own lease or hands it back; whoever else takes it takes the next fence with it, and nobody sets a time."""

_FENCED = """
CREATE OR REPLACE FUNCTION core.only_by_lease() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE newest bigint;
BEGIN
  SELECT l.fence INTO newest FROM core.task_lease l WHERE l.holder <> '' FOR SHARE;
  IF EXISTS (SELECT FROM added WHERE fence IS DISTINCT FROM newest) THEN
    RAISE EXCEPTION 'only the newest lease writes runs; it is number %', coalesce(newest, 0) USING ERRCODE = '42501';
  END IF;
  RETURN NULL;
END $$"""
"""Nothing fires but under the newest lease, whatever function or statement writes it."""

_ONCE = """
CREATE OR REPLACE FUNCTION core.keep_task_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF OLD.state NOT IN ('claimed', 'running') THEN
    RAISE EXCEPTION 'a run that has ended stays as it is' USING ERRCODE = '42501';
  END IF;
  RETURN NEW;
END $$"""

_GONE = """
CREATE OR REPLACE FUNCTION core.forget_due() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  DELETE FROM app.due_tasks d WHERE d.task_id = OLD.task_id;
  DELETE FROM app.open_runs r WHERE r.task_id = OLD.task_id;
  RETURN NULL;
END $$"""
"""A task that is deleted leaves nothing of itself among what is nobody's."""

_READ = """
CREATE OR REPLACE FUNCTION core.due_now(most int)
RETURNS TABLE (owner_kind text, owner_id text, task_id uuid, revision bigint, kind text, rule text, zone text, next_at timestamptz, next_note text,
  held boolean, misfire text, window_s int, overlap text, busy boolean, looked_at timestamptz)
LANGUAGE plpgsql
SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE moment timestamptz := clock_timestamp(); o record;
BEGIN
  FOR o IN SELECT d.owner_kind AS k, d.owner_id AS i, array_agg(d.task_id) AS ids, array_agg(d.revision) AS revisions
      FROM (SELECT * FROM app.due_tasks WHERE due_at <= moment ORDER BY due_at LIMIT most) d GROUP BY 1, 2 LOOP
    PERFORM set_config('app.owner_kind', o.k, true), set_config('app.owner_id', o.i, true);
    RETURN QUERY SELECT o.k, o.i, d.id, d.revision, t.kind, t.rule, t.zone, t.next_at, t.next_note, t.held, t.misfire, t.window_s, t.overlap,
        EXISTS (SELECT FROM app.open_runs r WHERE r.task_id = d.id), moment
      FROM unnest(o.ids, o.revisions) AS d(id, revision)
      LEFT JOIN core.tasks t ON t.owner_kind = o.k AND t.owner_id = o.i AND t.task_id = d.id AND t.revision = d.revision AND t.next_at IS NOT NULL;
  END LOOP;
  PERFORM set_config('app.owner_kind', '', true), set_config('app.owner_id', '', true);
END $$"""
"""What is due by the database's clock, the oldest first; each owner's rows under their own row security. `kind` NULL: no such task at that revision."""

_FIRE = """
CREATE OR REPLACE FUNCTION core.fire_tasks(token bigint, at_work text, batch jsonb)
RETURNS TABLE (place int, nominal_at timestamptz) LANGUAGE plpgsql
SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE o record;
BEGIN
  PERFORM 1 FROM core.task_lease l WHERE l.fence = token AND l.holder <> '' FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the lease has moved on: this is number %', token USING ERRCODE = '55000';
  END IF;
  FOR o IN SELECT e->>'kind' AS k, e->>'name' AS i, e->'tasks' AS planned, e->'runs' AS runs FROM jsonb_array_elements(batch) AS e LOOP
    PERFORM set_config('app.owner_kind', o.k, true), set_config('app.owner_id', o.i, true);
    RETURN QUERY WITH asked AS MATERIALIZED (
      SELECT a.* FROM jsonb_to_recordset(o.planned) AS a(place int, task uuid, revision bigint, before timestamptz, next timestamptz, note text, hold boolean, look timestamptz)
    ), mine AS MATERIALIZED (
      SELECT a.*, t.kind, t.title, t.text, t.notify FROM asked a
        JOIN app.due_tasks d ON d.task_id = a.task AND d.revision = a.revision AND d.owner_kind = o.k AND d.owner_id = o.i
        JOIN core.tasks t ON t.owner_kind = o.k AND t.owner_id = o.i AND t.task_id = a.task AND t.revision = a.revision AND t.next_at = a.before
        FOR UPDATE OF d, t SKIP LOCKED
    ), stale AS MATERIALIZED (
      SELECT d.task_id FROM asked a JOIN app.due_tasks d ON d.task_id = a.task AND d.revision = a.revision AND d.owner_kind = o.k AND d.owner_id = o.i
        WHERE a.before IS NULL FOR UPDATE OF d SKIP LOCKED
    ), over AS (
      DELETE FROM app.due_tasks d USING (SELECT task_id FROM stale UNION ALL SELECT task FROM mine WHERE next IS NULL) x WHERE d.task_id = x.task_id
    ), later AS (
      UPDATE app.due_tasks d SET due_at = coalesce(m.look, m.next) FROM mine m WHERE d.task_id = m.task AND m.next IS NOT NULL
    ), moved AS (
      UPDATE core.tasks t SET next_at = m.next, next_note = m.note, held = m.hold, state = CASE WHEN m.next IS NULL THEN 'ended' ELSE t.state END,
          reason = CASE WHEN m.next IS NULL THEN 'Its last time has come.' ELSE t.reason END
        FROM mine m WHERE t.owner_kind = o.k AND t.owner_id = o.i AND t.task_id = m.task
    ), made AS (
      INSERT INTO core.task_runs (owner_kind, owner_id, task_id, nominal_at, state, ended_at, reason, note, count, until, fence, worker)
        SELECT o.k, o.i, m.task, r.nominal, CASE WHEN r.what <> 'fire' THEN r.what WHEN m.kind = 'reminder' THEN 'done' ELSE 'claimed' END,
            CASE WHEN r.what <> 'fire' OR m.kind = 'reminder' THEN clock_timestamp() END, r.reason, r.note, r.count, r.until, token,
            CASE WHEN r.what = 'fire' THEN at_work ELSE '' END
          FROM jsonb_to_recordset(o.runs) AS r(place int, nominal timestamptz, what text, reason text, note text, count bigint, until timestamptz)
          JOIN mine m ON m.place = r.place
        ON CONFLICT DO NOTHING RETURNING task_id, nominal_at, state
    ), told AS (
      INSERT INTO core.notifications (owner_kind, owner_id, notification_id, task_id, title, text, due_at)
        SELECT o.k, o.i, gen_random_uuid(), m.task, m.title, m.text, x.nominal_at FROM made x JOIN mine m ON m.task = x.task_id WHERE x.state = 'done' AND m.notify
    ), opened AS (
      INSERT INTO app.open_runs (task_id, owner_kind, owner_id, nominal_at, worker)
        SELECT x.task_id, o.k, o.i, x.nominal_at, at_work FROM made x WHERE x.state = 'claimed'
    ) SELECT m.place, x.nominal_at FROM made x JOIN mine m ON m.task = x.task_id WHERE x.state IN ('done', 'claimed');
  END LOOP;
  PERFORM set_config('app.owner_kind', '', true), set_config('app.owner_id', '', true);
END $$"""
"""What was planned of a batch: {"kind", "name" (of an owner), "tasks", "runs"} in a list, each under their own row security: runs, notifications, what comes next.
Nothing of it when the lease has moved on. A task that somebody changed or is changing is left alone (rule 9); one without `before` is none any more.
Returns what fired, by its `place`."""

SQL: list[str] = [
    _LEASE,
    _FENCED,
    _ONCE,
    _GONE,
    _READ,
    _FIRE,
    "CREATE OR REPLACE TRIGGER keep_task_lease BEFORE INSERT OR UPDATE ON core.task_lease FOR EACH ROW EXECUTE FUNCTION core.keep_task_lease()",
    "CREATE OR REPLACE TRIGGER only_by_lease AFTER INSERT ON core.task_runs REFERENCING NEW TABLE AS added"
    " FOR EACH STATEMENT EXECUTE FUNCTION core.only_by_lease()",
    "CREATE OR REPLACE TRIGGER keep_task_run BEFORE UPDATE ON core.task_runs FOR EACH ROW EXECUTE FUNCTION core.keep_task_run()",
    "CREATE OR REPLACE TRIGGER forget_due AFTER DELETE ON core.tasks FOR EACH ROW EXECUTE FUNCTION core.forget_due()",
    "ALTER TABLE core.tasks SET (fillfactor = 70)",
]
