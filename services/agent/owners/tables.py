"""What people decided about the agent, who may reach it by a key, for whom it may act, and what it knows of a person.

Nothing here opens anything by itself: settings, keys and delegations count by the signatures that stand beside them, and are verified when they are read.
"""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, LargeBinary, Table, Uuid

from services.agent.schema import core, line, owned, when, written
from shared.db.statements import statements_table

statements = statements_table(core)
"""Settings, decisions and key changes. Nobody's, and without content."""

access = Table(
    "access",
    core,
    Column("access_id", Uuid, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    line("token_hash"),
    Column("subject", Uuid, nullable=False),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    line("key_id"),
    written(),
    CheckConstraint("token_hash ~ '^[0-9a-f]{64}$'", name="access_hash"),
    Index("access_by_token", "token_hash", "version"),
)
"""Everything that was ever said of a key of the API, newest version last: looked up by the key's hash, so that it can be nobody's. `subject`: the person, as signed."""

delegations = Table(
    "delegations",
    core,
    *owned(),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    line("key_id"),
    when("issued_at", nullable=False),
    when("expires_at", nullable=False),
)
"""The newest Delegation of each owner. The times are for statements; what counts is what was signed. It is the console's word and no text of theirs: it ends by itself."""

profiles = Table(
    "profiles",
    core,
    *owned(),
    line("zone"),
    when("zone_at", nullable=False),
)
"""The time zone that a person's browser last named, an IANA name (rule 6)."""

TABLES = (statements, access, delegations, profiles)
GRANTS: dict[str, dict[str, Any]] = {
    "statements": {"select": True, "insert": [c.name for c in statements.columns if c.name not in ("position", "at")]},
    "access": {"select": True, "insert": [c.name for c in access.columns if c.name != "at"]},
    "delegations": {
        "select": True,
        "insert": True,
        "update": ["statement", "signature", "key_id", "issued_at", "expires_at"],
    },
    "profiles": {"select": True, "insert": True, "update": ["zone", "zone_at"], "delete": True},
}
OWNED = frozenset({"delegations", "profiles"})
SQL: list[str] = []
