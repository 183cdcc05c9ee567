"""Mail accounts of an owner, as the console states them. No password, sealed or not, is ever here (rule 15)."""

from typing import Any

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Table, Uuid

from services.agent.schema import core, line, owned, when

email_accounts = Table(
    "email_accounts",
    core,
    *owned(),
    Column("account_id", Uuid, primary_key=True),
    line("label"),
    line("connector"),
    line("secret"),
    line("address"),
    Column("reads", Boolean, nullable=False),
    Column("sends", Boolean, nullable=False),
    when("deleted_at"),
    when("at", nullable=False),
    Column("version", BigInteger, nullable=False),
    CheckConstraint("owner_kind = 'user'", name="email_accounts_of_people"),
    CheckConstraint("version > 0", name="email_accounts_version"),
)
"""`version` is the console's: an older word changes nothing. `deleted_at` is never taken back: an account that comes again is another one."""

TABLES = (email_accounts,)
OWNED = frozenset(each.name for each in TABLES)
_STATED = ["label", "connector", "secret", "address", "reads", "sends", "deleted_at", "at", "version"]
GRANTS: dict[str, dict[str, Any]] = {
    "email_accounts": {
        "select": True,
        "insert": ["owner_kind", "owner_id", "account_id", *_STATED],
        "update": _STATED,
        "delete": True,
    }
}
SQL: list[str] = []
