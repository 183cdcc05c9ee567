"""The tables of a surface that people sign in to, the same at each."""

from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Column, DateTime, Index, LargeBinary, MetaData, Table, Text, Uuid, text


class IdentityTables(NamedTuple):
    standings: Table
    identity_sessions: Table
    ended_sign_ins: Table
    used_tokens: Table
    sign_in_codes: Table


def identity_tables(app: MetaData) -> IdentityTables:
    """Declare them in a service's metadata. Tokens of links, codes and sessions stand in them as SHA-256 only."""
    return IdentityTables(_standings(app), _sessions(app), _ended(app), _used(app), _codes(app))


def _line(name: str, **options: Any) -> Column[Any]:
    return Column(name, Text, nullable=False, **options)


def _when(name: str, *, default: bool = False) -> Column[Any]:
    made = text("clock_timestamp()") if default else None
    return Column(name, DateTime(timezone=True), nullable=False, server_default=made)


def _standings(app: MetaData) -> Table:
    """The newest signed Standing of each subject; `link_used_at`: when its invitation was taken."""
    return Table(
        "standings",
        app,
        Column("subject", Uuid, primary_key=True),
        Column("version", BigInteger, nullable=False),
        Column("role", Text),
        _when("sessions_from"),
        Column("link_hash", Text),
        Column("link_used_at", DateTime(timezone=True)),
        Column("until", DateTime(timezone=True)),
        _when("decided_at"),
        Column("statement", LargeBinary, nullable=False),
        Column("signature", LargeBinary, nullable=False),
        _line("key_id"),
        Index("standings_links", "link_hash", postgresql_where=text("link_hash IS NOT NULL")),
    )


def _sessions(app: MetaData) -> Table:
    """`begun_at` is when the console vouched last, `renew_at` when it must again, `ends_at` when nothing is renewed any more."""
    return Table(
        "identity_sessions",
        app,
        Column("token_hash", Text, primary_key=True),
        Column("subject", Uuid, nullable=False),
        Column("sid", Uuid),
        _line("name"),
        _line("role"),
        _when("begun_at"),
        _when("renew_at"),
        _when("ends_at"),
        Index("identity_sessions_subject", "subject"),
        Index("identity_sessions_sid", "sid"),
        Index("identity_sessions_ends", "ends_at"),
    )


def _ended(app: MetaData) -> Table:
    """Sign-ins that are over at the console, for a day: a token that was under way must not begin a session."""
    return Table("ended_sign_ins", app, Column("sid", Uuid, primary_key=True), _when("ended_at", default=True))


def _used(app: MetaData) -> Table:
    """Tokens that were used, for as long as they could be used again."""
    return Table("used_tokens", app, Column("jti", Uuid, primary_key=True), _when("used_at", default=True))


def _codes(app: MetaData) -> Table:
    """A token waits here for the browser that asked for it: 60 seconds, taken once."""
    return Table(
        "sign_in_codes",
        app,
        _line("code_hash", primary_key=True),
        _line("token"),
        _line("next"),
        _when("made_at"),
    )
