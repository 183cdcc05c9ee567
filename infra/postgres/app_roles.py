"""Roles for the code of apps: each reaches the schema of the one app that has it, by the console's connection, and reads only.

They are made once, with their number, so that no service needs a right to make roles. Which app has which, the console says (core.open_app_schema).
"""

import asyncpg

ROLES = tuple(f"app_{number:02}" for number in range(1, 17))
DATABASE = "console_db"
CONNECTIONS = 2
"""Of each: a page and a job at once."""
SETTINGS = {
    "statement_timeout": "10s",
    "idle_in_transaction_session_timeout": "30s",
    "lock_timeout": "2s",
    "temp_file_limit": "64MB",
    "work_mem": "4MB",
    "log_statement": "none",
    "default_transaction_read_only": "on",
}
STRENGTH = f"LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT {CONNECTIONS} PASSWORD NULL"
MAP = "apps"
"""Of pg_ident.conf: the console's OS user may be each of them, and nobody else."""
LISTED = ", ".join(f"'{role}'" for role in ROLES)
_THERE = f"SELECT rolname FROM pg_roles WHERE rolname IN ({LISTED})"  # noqa: S608 - names of ours
_TIES = f"""SELECT format('REVOKE %s FROM %s', roleid::regrole, member::regrole) FROM pg_auth_members
  WHERE member::regrole::text IN ({LISTED}) OR roleid::regrole::text IN ({LISTED})"""  # noqa: S608 - names of ours


async def make_roles(admin: asyncpg.Connection) -> None:
    """Before the grants on databases. What somebody gave them beyond is taken back."""
    there = {row[0] for row in await admin.fetch(_THERE)}
    for role in ROLES:
        await admin.execute(f"{'ALTER' if role in there else 'CREATE'} ROLE {role} {STRENGTH}")
        await admin.execute(f"ALTER ROLE {role} RESET ALL")
        for name, value in SETTINGS.items():
            await admin.execute(f"ALTER ROLE {role} SET {name} = '{value}'")
    for row in await admin.fetch(_TIES):
        await admin.execute(row[0])


def let_connect() -> str:
    """To their database, without temporary tables."""
    return f"GRANT CONNECT ON DATABASE {DATABASE} TO {', '.join(ROLES)}"


def login_lines(mapped: str) -> list[str]:
    """Of pg_hba.conf, before the line for everybody. `mapped`: the map of an installation in which one OS user is everybody."""
    return [f"local {DATABASE} {','.join(ROLES)} peer map={mapped or MAP}", f"local all {','.join(ROLES)} reject"]


def map_lines(os_user: str) -> list[str]:
    """Of pg_ident.conf."""
    return [f"{MAP} {os_user} {role}" for role in ROLES]
