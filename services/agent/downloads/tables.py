"""Which files may be fetched, by owner; and whose a link is, for requests that name no owner and for those who clear away."""

from typing import Any

from sqlalchemy import Boolean, Column, Index, LargeBinary, Table, Text, Uuid, text

from services.agent.schema import app, core, line, owned, when, written

downloads = Table(
    "downloads",
    core,
    *owned(),
    Column("download_id", Uuid, primary_key=True),
    line("path"),
    line("name"),
    line("version", server_default=text("''")),
    Column("by_mail", Boolean, nullable=False),
    written("made_at"),
    when("expires_at", nullable=False),
    Index("downloads_newest", "owner_kind", "owner_id", "made_at"),
)
"""`path`: in the owner's workspace. `by_mail`: whoever has the link may fetch it, else its owner alone;
then `version` is that of the file when the link was made, and the link opens no other."""

download_places = Table(
    "download_places",
    app,
    Column("download_id", Uuid, primary_key=True),
    Column("owner_kind", Text, nullable=False),
    Column("owner_id", Text, nullable=False),
    Column("token_hash", LargeBinary, unique=True),
    when("expires_at", nullable=False),
    Index("download_places_due", "expires_at"),
    Index("download_places_of", "owner_kind", "owner_id"),
)
"""Whose it is and until when; nothing of the file stands here. `token_hash`: SHA-256 of the token in a mailed link, which itself is kept nowhere."""

TABLES = (downloads, download_places)
_OWN = ["owner_kind", "owner_id", "download_id", "path", "name", "version", "by_mail", "expires_at"]
GRANTS: dict[str, dict[str, Any]] = {"downloads": {"select": True, "insert": _OWN, "delete": True}}
OWNED = frozenset({"downloads"})
SQL: list[str] = []
