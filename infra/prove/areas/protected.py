"""Every protected table x every kind of statement, and what else a service could try in its own database. All of it is rolled back."""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

from sqlalchemy import Table

from infra.postgres.core import Core, declared
from infra.postgres.settings import SUPERUSER
from infra.prove.check import Book
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES

# {t}: the table, {c}: a column of it, {k}: its key, {i}: insertable columns, {r}: the role
ON_TABLE: dict[str, str] = {
    "update": "UPDATE {t} SET {c} = {c} WHERE false",
    "delete": "DELETE FROM {t} WHERE false",
    "truncate": "TRUNCATE {t}",
    "lock": "LOCK TABLE {t} IN ACCESS EXCLUSIVE MODE NOWAIT",
    "select for update": "SELECT 1 FROM {t} LIMIT 0 FOR UPDATE",
    "insert, on conflict update": "INSERT INTO {t} ({i}) SELECT {i} FROM {t} LIMIT 0 ON CONFLICT ({k}) DO UPDATE SET {c} = excluded.{c}",
    "merge, update": "MERGE INTO {t} USING (SELECT 1 WHERE false) s ON false WHEN MATCHED THEN UPDATE SET {c} = {t_name}.{c}",
    "merge, delete": "MERGE INTO {t} USING (SELECT 1 WHERE false) s ON false WHEN MATCHED THEN DELETE",
    "drop": "DROP TABLE {t} CASCADE",
    "alter, add column": "ALTER TABLE {t} ADD COLUMN probe int",
    "alter, drop column": "ALTER TABLE {t} DROP COLUMN {c} CASCADE",
    "alter, rename": "ALTER TABLE {t} RENAME TO probe",
    "alter, other schema": "ALTER TABLE {t} SET SCHEMA app",
    "alter, owner": "ALTER TABLE {t} OWNER TO {r}",
    "alter, disable triggers": "ALTER TABLE {t} DISABLE TRIGGER ALL",
    "alter, inherit": "ALTER TABLE {t} NO INHERIT app.outbox",
    "drop trigger": "DROP TRIGGER no_truncate ON {t}",
    "create trigger": "CREATE TRIGGER probe BEFORE INSERT ON {t} FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "create rule": "CREATE RULE probe AS ON INSERT TO {t} DO INSTEAD NOTHING",
    "create policy": "CREATE POLICY probe ON {t} USING (false)",
    "create index": "CREATE INDEX probe ON {t} ({c})",
    "create statistics": "CREATE STATISTICS probe ON ctid, {c} FROM {t}",
    "row security": "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY",
    "row security off": "ALTER TABLE {t} DISABLE ROW LEVEL SECURITY",
    "row security not forced": "ALTER TABLE {t} NO FORCE ROW LEVEL SECURITY",
    "comment": "COMMENT ON TABLE {t} IS 'probe'",
    "copy in": "COPY {t} FROM PROGRAM 'true'",
    "copy out": "COPY {t} TO PROGRAM 'cat > /dev/null'",
}
ON_DIVIDED: dict[str, str] = {
    "drop its policy": "DROP POLICY owner_only ON {t}",
    "open its policy": "ALTER POLICY owner_only ON {t} USING (true)",
    "add a policy": "CREATE POLICY probe ON {t} USING (true)",
}
ALLOWED: dict[str, tuple[str, ...]] = {
    "update": ("update", "select for update", "insert, on conflict update", "merge, update"),
    "delete": ("delete", "merge, delete", "lock"),
}
"""What a privilege that the code gives opens."""
IN_DATABASE: dict[str, str] = {
    "set role to the owner": "SET LOCAL ROLE {r}_owner",
    "set role to the superuser": "SET LOCAL ROLE {s}",
    "set role to another service": "SET LOCAL ROLE {o}",
    "become the superuser": "SET LOCAL SESSION AUTHORIZATION {s}",
    "join the owner": "GRANT {r}_owner TO {r}",
    "join pg_write_all_data": "GRANT pg_write_all_data TO {r}",
    "make itself superuser": "ALTER ROLE {r} SUPERUSER",
    "make a role": "CREATE ROLE probe LOGIN",
    "give another role a password": "ALTER ROLE {o} PASSWORD 'probe'",
    "own the database": "ALTER DATABASE {d} OWNER TO {r}",
    "shut the database": "ALTER DATABASE {d} CONNECTION LIMIT 0",
    "make a schema": "CREATE SCHEMA probe",
    "drop schema core": "DROP SCHEMA core CASCADE",
    "drop schema public": "DROP SCHEMA public CASCADE",
    "own schema core": "ALTER SCHEMA core OWNER TO {r}",
    "make a table in core": "CREATE TABLE core.probe (a int)",
    "make a function in core": "CREATE FUNCTION core.probe() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "make a table in public": "CREATE TABLE public.probe (a int)",
    "replace the refusing function": "CREATE OR REPLACE FUNCTION core.refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "drop the refusing function": "DROP FUNCTION core.refuse_change() CASCADE",
    "pass triggers by": "SET LOCAL session_replication_role = replica",
    "drop what the owner owns": "DROP OWNED BY {r}_owner CASCADE",
    "reassign what the owner owns": "REASSIGN OWNED BY {r}_owner TO {r}",
    "read a server file": "SELECT pg_read_file('PG_VERSION')",
    "list a server folder": "SELECT count(*) FROM pg_ls_dir('.')",
    "import a server file": "SELECT lo_import('PG_VERSION')",
    "run a program": "DO $$ BEGIN EXECUTE 'CREATE TEMP TABLE probe_out (a text)'; EXECUTE 'COPY probe_out FROM PROGRAM ''true'''; END $$",
    "read passwords": "SELECT count(*) FROM pg_authid",
    "change the catalogue": "UPDATE pg_class SET relowner = relowner WHERE false",
    "make an extension": "CREATE EXTENSION file_fdw SCHEMA app",
    "make an untrusted function": "CREATE FUNCTION app.probe() RETURNS int LANGUAGE c AS 'libc.so.6', 'getpid'",
    "make an event trigger": "CREATE EVENT TRIGGER probe ON ddl_command_start EXECUTE FUNCTION core.refuse_change()",
    "publish tables": "CREATE PUBLICATION probe FOR ALL TABLES",
    "end other sessions": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{s}' AND false UNION ALL SELECT pg_reload_conf()",
}
WITHOUT_EFFECT: dict[str, tuple[str, str]] = {
    "grant connect to another service": ("GRANT CONNECT ON DATABASE {d} TO {o}", "SELECT NOT has_database_privilege('{o}', '{d}', 'CONNECT')"),
    "grant everything on core to another service": ("GRANT ALL ON SCHEMA core TO {o}", "SELECT NOT has_schema_privilege('{o}', 'core', 'USAGE')"),
}  # fmt: skip


async def check_protected(target: Target, book: Book, service: str) -> None:
    """Everything that one service tries in its own database, with its own role."""
    core = declared(service)
    made = [
        *_in_database(service),
        *(each for table in core.metadata.sorted_tables for each in _on_table(service, core, table)),
    ]
    outcomes = await target.run(service, [attempt for _, attempt in made])
    for (says, _), outcome in zip(made, outcomes, strict=True):
        book.outcome(service, says, outcome)


def _in_database(service: str) -> list[tuple[str, Attempt]]:
    other = next(role for role in DATABASES if role != service)
    names = {"r": service, "o": other, "s": SUPERUSER, "d": DATABASES[service]}
    found = [
        (f"{names['d']}: {says}", _sql(service, statement.format(**names))) for says, statement in IN_DATABASE.items()
    ]
    for says, (statement, verify) in WITHOUT_EFFECT.items():
        found.append((f"{names['d']}: {says}", _sql(service, statement.format(**names), verify.format(**names))))
    return found


def _on_table(service: str, core: Core, table: Table) -> list[tuple[str, Attempt]]:
    name, granted = f"core.{table.name}", core.grants.get(table.name, {})
    insertable = [each.name for each in table.columns if each.name in core.columns(table, "insert")]
    column = insertable[0] if insertable else next(iter(table.columns)).name
    keys = ", ".join(each.name for each in table.primary_key.columns)
    names = {"t": name, "t_name": table.name, "c": column, "k": keys, "i": column, "r": service}
    allowed = {says for word, all_ways in ALLOWED.items() if granted.get(word) for says in all_ways}
    found = [
        (f"{name}: {says}", _sql(service, text.format(**names)))
        for says, text in ON_TABLE.items()
        if says not in allowed
    ]
    for each in table.columns:
        if each.name not in core.columns(table, "insert"):
            statement = (
                f"INSERT INTO {name} ({each.name}) OVERRIDING SYSTEM VALUE SELECT {each.name} FROM {name} LIMIT 0"
            )
            found.append((f"{name}: insert {each.name}", _sql(service, statement)))
    if table.name in core.owned:
        found += [(f"{name}: {says}", _sql(service, text.format(**names))) for says, text in ON_DIVIDED.items()]
    more = f"GRANT TRUNCATE, TRIGGER, REFERENCES ON {name} TO {service}"
    held = f"SELECT NOT has_table_privilege('{service}', '{name}', 'TRUNCATE, TRIGGER, REFERENCES')"
    return [*found, (f"{name}: grant itself more", _sql(service, more, held))]


def _sql(role: str, statement: str, verify: str | None = None) -> Attempt:
    return {"kind": "sql", "role": role, "database": DATABASES[role], "statement": statement, "verify": verify}
