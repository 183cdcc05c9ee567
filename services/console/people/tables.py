"""Who may sign in and with what, and what the other surfaces were told about them.

Every `token_hash` is the SHA-256 of 256 random bits; the token itself stands nowhere.
"""

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, Text, Uuid, text

from services.console.schema import app, flag, when

people = Table(
    "people",
    app,
    Column("id", Uuid, primary_key=True),
    Column("handle", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("password_hash", Text),
    flag("disabled"),
    Column("single_keys", Boolean, nullable=False, server_default=text("true")),
    Column("language", Text),
    when("created_at", nullable=False),
    Column("created_by", Text, nullable=False),
    when("changed_at"),
    Column("changed_by", Text),
)
"""`language`: what the person reads; NULL: what the browser asks for. `changed_by`: who gave the role, or shut the person out, last."""
invitations = Table(
    "invitations",
    app,
    Column("id", Uuid, primary_key=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("handle", Text, nullable=False),
    when("created_at", nullable=False),
    Column("created_by", Text, nullable=False),
    when("expires_at", nullable=False),
    when("used_at"),
    when("revoked_at"),
    Column("made_by", Text),
    Index("invitations_open", "expires_at", postgresql_where=text("used_at IS NULL AND revoked_at IS NULL")),
)
"""`name` and `handle` are what the form begins with; empty when whoever invited left them open. `made_by`: that person's id."""
links = Table(
    "one_time_links",
    app,
    Column("token_hash", Text, primary_key=True),
    Column("purpose", Text, nullable=False),
    Column("person_id", Uuid, ForeignKey("app.people.id")),
    when("created_at", nullable=False),
    when("expires_at", nullable=False),
    when("used_at"),
    Column("made_by", Text),
)
"""`made_by`: id of the owner who made a link for a new password."""
sessions = Table(
    "sessions",
    app,
    Column("token_hash", Text, primary_key=True),
    Column("person_id", Uuid, ForeignKey("app.people.id"), nullable=False),
    when("created_at", nullable=False),
    when("seen_at", nullable=False),
    Column("browser", Text),
    Column("minted", Integer, nullable=False, server_default=text("0")),
    when("minted_from"),
    Index("sessions_of_person", "person_id"),
)
"""`browser`: its coarse name at sign-in. `minted`: identity tokens since `minted_from`."""
tokens = Table(
    "api_tokens",
    app,
    Column("id", Uuid, primary_key=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("person_id", Uuid, ForeignKey("app.people.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    when("created_at", nullable=False),
    when("used_at"),
    when("revoked_at"),
)
failures = Table(
    "sign_in_failures",
    app,
    Column("subject", Text, primary_key=True),
    Column("failures", Integer, nullable=False),
    when("failed_at", nullable=False),
    when("open_at"),
    Index("sign_in_failures_by_age", "failed_at"),
)
standings = Table(
    "standings",
    app,
    Column("audience", Text, primary_key=True),
    Column("subject", Uuid, primary_key=True),
    Column("person_id", Uuid, ForeignKey("app.people.id")),
    Column("role", Text),
    when("sessions_from", nullable=False),
    Column("version", Integer, nullable=False),
    when("stated_at", nullable=False),
    Index("standings_of_person", "person_id", postgresql_where=text("person_id IS NOT NULL")),
)
"""What the surfaces were told last, by the name that the person or guest has there. `person_id` is null for a guest."""
