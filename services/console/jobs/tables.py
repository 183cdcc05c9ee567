"""Cleanup jobs, what people signed about them, their dry runs and runs, and the rows that they deleted, for seven days."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Identity, Index, LargeBinary, Table, Text, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB

from services.console.schema import app, when

jobs = Table(
    "jobs",
    app,
    Column("job_id", Uuid, primary_key=True),
    Column("job", Text, nullable=False),
    Column("job_hash", Text, nullable=False),
    Column("app_slug", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("proposal_id", Uuid),
    Column("owner_id", Text, nullable=False),
    Column("owner_name", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    when("made_at", nullable=False),
    Column("state", Text, nullable=False, server_default=text("'proposed'")),
    Column("reason", Text, nullable=False, server_default=text("''")),
    Column("version", BigInteger, nullable=False, server_default=text("0")),
    when("next_at"),
    CheckConstraint("state IN ('proposed', 'on', 'off', 'stopped', 'refused')", name="jobs_state"),
    Index("jobs_due", "next_at", postgresql_where=text("state = 'on'")),
    Index("jobs_of_proposal", "proposal_id", unique=True, postgresql_where=text("proposal_id IS NOT NULL")),
)
"""`job`: canonical JSON. `version` counts the signed settings. `stopped`: by the console itself, and `reason` says why. `next_at` is where to look: what counts is what was signed."""
job_settings = Table(
    "job_settings",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("job_id", Uuid, nullable=False),
    Column("setting", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("opening", LargeBinary, nullable=False),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("by_via", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
    Index("job_settings_of", "job_id", "version", unique=True),
)
"""The signed words, as they were signed. A run reads the newest one anew."""
job_dry_runs = Table(
    "job_dry_runs",
    app,
    Column("dry_run_id", Uuid, primary_key=True),
    Column("job_id", Uuid, nullable=False),
    Column("job_hash", Text, nullable=False),
    when("as_of", nullable=False),
    Column("rows", BigInteger),
    Column("bytes", BigInteger),
    Column("undated", BigInteger),
    Column("referenced", BigInteger),
    Column("keys_hash", Text, nullable=False, server_default=text("''")),
    Column("error", Text, nullable=False, server_default=text("''")),
    Column("by_name", Text, nullable=False),
    Index("job_dry_runs_of", "job_id", "as_of"),
)
"""`keys_hash`: SHA-256 over the keys of the rows that would go, sorted. Figures are NULL when they could not be had."""
job_runs = Table(
    "job_runs",
    app,
    Column("run_id", Uuid, primary_key=True),
    Column("job_id", Uuid, nullable=False),
    when("nominal_at", nullable=False),
    Column("how", Text, nullable=False),
    Column("state", Text, nullable=False),
    when("started_at"),
    when("alive_at"),
    when("ended_at"),
    Column("holder", Text, nullable=False, server_default=text("''")),
    Column("app_slug", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("deleted", BigInteger, nullable=False, server_default=text("0")),
    Column("bytes", BigInteger, nullable=False, server_default=text("0")),
    Column("restored", BigInteger, nullable=False, server_default=text("0")),
    Column("found", BigInteger),
    Column("undated", BigInteger),
    Column("referenced", BigInteger),
    Column("output", Text, nullable=False, server_default=text("''")),
    Column("error", Text, nullable=False, server_default=text("''")),
    CheckConstraint("how IN ('scheduled', 'late', 'by hand')", name="job_runs_how"),
    CheckConstraint("state IN ('running', 'done', 'partly', 'stopped', 'failed', 'missed')", name="job_runs_state"),
    Index("job_runs_once", "job_id", "nominal_at", unique=True),
    Index("job_runs_open", "alive_at", postgresql_where=text("state = 'running'")),
)
"""One row for each time of a job, whatever became of it. `holder`: the process that may write to it."""
job_trash = Table(
    "job_trash",
    app,
    Column("trash_id", BigInteger, Identity(), primary_key=True),
    Column("run_id", Uuid, nullable=False),
    Column("app_slug", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    when("deleted_at", nullable=False),
    when("expires_at", nullable=False),
    Index("job_trash_of", "run_id", "trash_id"),
    Index("job_trash_by_age", "expires_at"),
)
"""Rows that runs deleted, whole. `key`: a JSON list of texts."""
