"""Roles, databases, schemas and the connect matrix. Every statement can run again; a planted grant is taken back."""

# statements are composed of names of ours
# ruff: noqa: S608

import asyncpg

from infra.postgres import app_roles
from infra.postgres.settings import CONNECTION_LIMIT, role_settings
from shared.settings import DATABASES

MEMBERS = f"""
CREATE TEMP TABLE IF NOT EXISTS m(r, d) AS VALUES {", ".join(f"('{role}', '{database}')" for role, database in DATABASES.items())}
"""

ROLES = """
SELECT format('CREATE ROLE %I NOLOGIN', r || '_owner') FROM m WHERE to_regrole(r || '_owner') IS NULL
UNION ALL SELECT format('CREATE ROLE %I LOGIN', r) FROM m WHERE to_regrole(r) IS NULL
"""

STRENGTH = """
SELECT format('ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT {limit} PASSWORD NULL', r) FROM m
UNION ALL SELECT format('ALTER ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD NULL', r || '_owner') FROM m
UNION ALL SELECT format('REVOKE %s FROM %s', a.roleid::regrole, a.member::regrole) FROM pg_auth_members a
  JOIN m ON a.member IN (to_regrole(r), to_regrole(r || '_owner')) OR a.roleid IN (to_regrole(r), to_regrole(r || '_owner'))
""".replace("{limit}", str(CONNECTION_LIMIT))

DATABASE_MAKING = """
SELECT format('CREATE DATABASE %I OWNER %I TEMPLATE template0', d, r || '_owner') FROM m
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = d)
"""

CONNECTS = """
SELECT format('ALTER DATABASE %I OWNER TO %I', d, r || '_owner') FROM m JOIN pg_database ON datname = d WHERE pg_get_userbyid(datdba) <> r || '_owner'
UNION ALL SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', datname) FROM pg_database WHERE datallowconn
UNION ALL SELECT format('REVOKE ALL ON DATABASE %I FROM %I CASCADE', p.datname, grantee.rolname) FROM pg_database p
  CROSS JOIN LATERAL aclexplode(p.datacl) a JOIN pg_roles grantee ON grantee.oid = a.grantee
  WHERE datallowconn AND a.grantee <> p.datdba AND NOT grantee.rolsuper
UNION ALL SELECT format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', d, r) FROM m
UNION ALL SELECT '{apps}'
""".replace("{apps}", app_roles.let_connect())

WRONG_CONNECTS = f"""
SELECT string_agg(r || ' -> ' || datname, ', ') FROM (SELECT r::text, d::text FROM m UNION ALL SELECT unnest(ARRAY[{app_roles.LISTED}]), '{app_roles.DATABASE}') who
 CROSS JOIN pg_database WHERE datallowconn AND has_database_privilege(r, datname, 'CONNECT') IS DISTINCT FROM (d = datname)
"""

TOO_STRONG = f"""
SELECT string_agg(rolname, ', ') FROM pg_roles LEFT JOIN m ON rolname IN (r, r || '_owner')
 WHERE (r IS NOT NULL OR rolname IN ({app_roles.LISTED}))
   AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls OR (rolcanlogin AND rolname <> r)
    OR EXISTS (SELECT FROM pg_auth_members WHERE member = pg_roles.oid OR roleid = pg_roles.oid))
"""

STRANGERS = f"""
SELECT string_agg(rolname, ', ') FROM pg_roles
 WHERE rolcanlogin AND rolname <> current_user AND rolname NOT IN (SELECT r FROM m) AND rolname NOT IN ({app_roles.LISTED})
"""


class Unsound(Exception):
    """The self-check found something that provisioning could not put right."""


async def provision_cluster(admin: asyncpg.Connection) -> None:
    """Roles and databases, then the grants in one transaction, then the self-check. `admin` is the superuser in database postgres."""
    await admin.execute("SET client_min_messages = error")
    await admin.execute(MEMBERS)
    await _run_generated(admin, ROLES)
    await _run_generated(admin, STRENGTH)
    await _role_settings(admin)
    await app_roles.make_roles(admin)
    await _run_generated(admin, DATABASE_MAKING)
    async with admin.transaction():
        await _run_generated(admin, CONNECTS)
    await check_cluster(admin)


async def check_cluster(admin: asyncpg.Connection) -> None:
    """Unsound unless only the diagonal connects, and no role is stronger than it must be."""
    await admin.execute(MEMBERS)
    for statement, says in (
        (WRONG_CONNECTS, "the connect matrix is off"),
        (TOO_STRONG, "a role is too strong"),
        (STRANGERS, "a role that is no service may log in"),
    ):
        if found := await admin.fetchval(statement):
            raise Unsound(f"{says}: {found}")


async def provision_schemas(database: asyncpg.Connection, service: str) -> None:
    """`app` belongs to the service, `core` to its NOLOGIN owner, `public` to nobody."""
    owner = f"{service}_owner"
    async with database.transaction():
        await database.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
        for schema, holder in (("app", service), ("core", owner)):
            found = await database.fetchval(
                "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = $1", schema
            )
            if found is None:
                await database.execute(f"CREATE SCHEMA {schema} AUTHORIZATION {holder}")
            elif found != holder:
                await database.execute(f"ALTER SCHEMA {schema} OWNER TO {holder}")
        for role in (*DATABASES, "PUBLIC"):
            await database.execute(f"REVOKE ALL ON SCHEMA core FROM {role}")
            await database.execute(f"REVOKE ALL ON SCHEMA public FROM {role}")
        await database.execute(f"GRANT USAGE ON SCHEMA core TO {service}")


async def _role_settings(admin: asyncpg.Connection) -> None:
    for role in DATABASES:
        for name, value in role_settings(admin.get_server_version().major).items():
            await admin.execute(f"ALTER ROLE {role} SET {name} = '{value}'")


async def _run_generated(admin: asyncpg.Connection, generator: str) -> None:
    for row in await admin.fetch(generator):
        await admin.execute(row[0])
