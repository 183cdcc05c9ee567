"""What was sent as an app, what a person approved of it, and which apps there are. Their own tables lie in a schema each."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, Table, Text, Uuid, text

from services.console.schema import app, flag, when

app_packages = Table(
    "app_packages",
    app,
    Column("folder_hash", Text, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("declaration", LargeBinary, nullable=False),
    Column("has_code", Boolean, nullable=False),
    Column("files", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sent_by", Text, nullable=False),
    when("sent_at", nullable=False),
    when("expires_at", nullable=False),
    Column("state", Text, nullable=False, server_default=text("'waiting'")),
    Index("app_packages_by_age", "sent_at"),
)
"""`declaration`: canonical JSON of what app.toml says. `state`: waiting, installed, refused, replaced."""
app_files = Table(
    "app_files",
    app,
    Column("folder_hash", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
apps = Table(
    "apps",
    app,
    Column("slug", Text, primary_key=True),
    Column("declaration", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    Column("version", Integer, nullable=False),
    Column("folder_hash", Text, nullable=False),
    Column("role", Text, unique=True),
    flag("shared"),
    Column("stated_version", BigInteger, nullable=False, server_default=text("0")),
    Column("by_name", Text, nullable=False),
    when("installed_at", nullable=False),
    Column("described_version", Integer, nullable=False, server_default=text("0")),
    Column("page_paths", Text),
)
"""`described_version`: the version whose code has said what it declares; `page_paths`: of its pages, a line each. `stated_version`: how often the agent was told of it."""
app_decisions = Table(
    "app_decisions",
    app,
    Column("statement_hash", Text, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("folder_hash", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("opening", LargeBinary, nullable=False),
    Column("by_id", Text, nullable=False),
    Column("by_name", Text, nullable=False),
    Column("by_via", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    when("at", nullable=False),
    Column("version", Integer, nullable=False),
    Index("app_decisions_of", "slug", "version", unique=True),
)
"""Signed approvals, as they were signed. `version` counts the decisions about an app."""
app_jobs = Table(
    "app_jobs",
    app,
    Column("slug", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("schedule", Text, nullable=False),
    Column("about", Text, nullable=False, server_default=text("''")),
    flag("is_on"),
    flag("is_gone"),
    Column("zone", Text, nullable=False, server_default=text("'UTC'")),
    Column("by_name", Text),
    when("at"),
    when("next_at"),
    Index("app_jobs_due", "next_at", postgresql_where=text("is_on")),
)
"""Jobs that apps' code has. `is_gone`: the newest version of the app has it no more. A person switches one on."""
app_job_runs = Table(
    "app_job_runs",
    app,
    Column("run_id", Uuid, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("name", Text, nullable=False),
    when("nominal_at", nullable=False),
    Column("state", Text, nullable=False),
    Column("output", Text, nullable=False, server_default=text("''")),
    Column("error", Text, nullable=False, server_default=text("''")),
    when("started_at", nullable=False),
    when("seen_at", nullable=False),
    when("ended_at"),
    Index("app_job_runs_once", "slug", "name", "nominal_at", unique=True),
    Index("app_job_runs_by_age", "slug", "started_at"),
)
"""`state`: running, done, failed, missed. `seen_at`: the newest sign of life of whoever runs it."""
