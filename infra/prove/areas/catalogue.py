"""What the Postgres catalogue says: who may connect, who is strong, who owns what, how the server listens."""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

from functools import reduce

from infra.observe.login import guarded_settings, login_lines, map_lines
from infra.postgres import app_roles
from infra.postgres.core import declared, strong_functions
from infra.postgres.settings import CONNECTION_LIMIT, ROLE_SETTINGS, SUPERUSER
from infra.prove.check import Book
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES

_OURS = ", ".join(f"'{role}', '{role}_owner'" for role in DATABASES)
_PAIRS = ", ".join(f"('{role}', '{name}')" for role, name in DATABASES.items())
_NOT_OF_APPS = " AND n.nspname !~ '^app_[a-z]'"
"""Those of apps are looked at by area apps."""
_USER_SCHEMAS = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'"

# each query lists what is wrong; nothing is right
CLUSTER: dict[str, str] = {
    "only a service's own role may connect, and make temporary tables, in its database": f"""
      SELECT role.rolname || ' has ' || p || ' on ' || datname FROM pg_roles role, pg_database, unnest(ARRAY['CONNECT', 'TEMP', 'CREATE']) p
      WHERE datallowconn AND NOT rolsuper AND rolname !~ '^pg_' AND pg_get_userbyid(datdba) <> rolname
        AND has_database_privilege(role.oid, pg_database.oid, p) IS DISTINCT FROM ((p <> 'CREATE' AND (rolname, datname) IN ({_PAIRS}))
          OR (p = 'CONNECT' AND datname = '{app_roles.DATABASE}' AND rolname IN ({app_roles.LISTED})))""",
    "no privilege on a database goes to PUBLIC or can be passed on": """
      SELECT datname || ': ' || coalesce(grantee.rolname, 'PUBLIC') || ' ' || privilege_type FROM pg_database, aclexplode(datacl) a
      LEFT JOIN pg_roles grantee ON grantee.oid = a.grantee
      WHERE datallowconn AND a.grantee <> datdba AND (a.grantee = 0 OR is_grantable OR NOT EXISTS (SELECT FROM pg_roles WHERE oid = a.grantee))""",
    "every database belongs to its NOLOGIN owner, and there is no other one": f"""
      SELECT datname || ' belongs to ' || pg_get_userbyid(datdba) FROM pg_database WHERE datname NOT IN ('postgres', 'template0', 'template1')
        AND (pg_get_userbyid(datdba), datname) NOT IN (SELECT r || '_owner', d FROM (VALUES {_PAIRS}) v(r, d))
      UNION ALL SELECT d || ' is missing' FROM (VALUES {_PAIRS}) v(r, d) WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = d)""",
    "only the five services, the apps' roles and the server's own user may log in": f"""
      SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolname NOT IN ('{SUPERUSER}', {app_roles.LISTED}, {", ".join(f"'{r}'" for r in DATABASES)})
      UNION ALL SELECT rolname || ' cannot' FROM pg_roles WHERE NOT rolcanlogin AND rolname IN ({", ".join(f"'{r}'" for r in DATABASES)})""",
    "only the server's own user is superuser, makes roles or databases, replicates or passes row security": f"""
      SELECT rolname FROM pg_roles WHERE rolname <> '{SUPERUSER}' AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)""",
    "no role has a password": "SELECT rolname FROM pg_authid WHERE rolpassword IS NOT NULL",
    "no role of ours is a member of another, or has members": f"""
      SELECT m.rolname || ' in ' || r.rolname FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member JOIN pg_roles r ON r.oid = a.roleid
      WHERE m.rolname IN ({_OURS}) OR r.rolname IN ({_OURS}, '{SUPERUSER}')""",
    "connections are limited for each service": f"""
      SELECT rolname || ' ' || rolconnlimit FROM pg_roles WHERE rolname IN ({", ".join(f"'{r}'" for r in DATABASES)}) AND rolconnlimit <> {CONNECTION_LIMIT}""",
    "roles carry the intended settings and no others": f"""
      SELECT role || ': ' || setting FROM (SELECT coalesce(rolname, 'every role') AS role, unnest(setconfig) AS setting
        FROM pg_db_role_setting LEFT JOIN pg_roles r ON r.oid = setrole) s WHERE role NOT IN ({app_roles.LISTED}, {", ".join(f"'{r}'" for r in DATABASES)})
        OR split_part(setting, '=', 1) NOT IN ({", ".join(f"'{name}'" for name in (*ROLE_SETTINGS, *app_roles.SETTINGS, "transaction_timeout"))})""",
    "no service may change a guarded setting": f"""
      SELECT grantee.rolname || ' ' || parname FROM pg_parameter_acl, aclexplode(paracl) a LEFT JOIN pg_roles grantee ON grantee.oid = a.grantee
      WHERE grantee.rolname IS DISTINCT FROM '{SUPERUSER}'""",
    "the server has no other tablespace, subscription or replication slot": """
      SELECT spcname::text FROM pg_tablespace WHERE spcname NOT IN ('pg_default', 'pg_global') UNION ALL SELECT subname FROM pg_subscription
      UNION ALL SELECT slot_name FROM pg_replication_slots""",
}

DATABASE: dict[str, str] = {
    "schemas belong to whom they must": """
      SELECT nspname || ' belongs to ' || pg_get_userbyid(nspowner) FROM pg_namespace n WHERE {schemas} AND (nspname, pg_get_userbyid(nspowner)::text)
        NOT IN (('app', '{role}'), ('core', '{role}_owner'), ('public', 'pg_database_owner'))""",
    "nobody else may use or fill a schema": """
      SELECT nspname || ': ' || coalesce(g.rolname, 'PUBLIC') || ' ' || privilege_type FROM pg_namespace n, aclexplode(nspacl) a
      LEFT JOIN pg_roles g ON g.oid = a.grantee WHERE {schemas} AND a.grantee <> nspowner
        AND NOT coalesce(nspname = 'core' AND g.rolname = '{role}' AND privilege_type = 'USAGE' AND NOT is_grantable, false)""",
    "no function runs with its owner's rights, but those that are declared so": """
      SELECT n.nspname || '.' || proname || ' of ' || pg_get_userbyid(proowner) FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
      WHERE prosecdef AND {schemas} AND n.nspname || '.' || proname NOT IN ({strong})""",
    "no function belongs to anybody but the service and its owner role": """
      SELECT n.nspname || '.' || proname || ' of ' || pg_get_userbyid(proowner) FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
      WHERE {schemas} AND (n.nspname, pg_get_userbyid(proowner)::text) NOT IN (('app', '{role}'), ('core', '{role}_owner'))""",
    "tables belong to whom they must": """
      SELECT n.nspname || '.' || relname || ' of ' || pg_get_userbyid(relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
      WHERE {schemas} AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND (n.nspname, pg_get_userbyid(relowner)::text) NOT IN (('app', '{role}'), ('core', '{role}_owner'))""",
    "no table is open to anybody else": """
      SELECT n.nspname || '.' || relname || ': ' || coalesce(g.rolname, 'PUBLIC') || ' ' || privilege_type FROM pg_class c
      JOIN pg_namespace n ON n.oid = relnamespace, aclexplode(relacl) a LEFT JOIN pg_roles g ON g.oid = a.grantee
      WHERE {schemas} AND a.grantee <> relowner AND (g.rolname IS DISTINCT FROM '{role}' OR is_grantable)""",
    "no extension, foreign server, event trigger, publication, large object or default privilege": """
      SELECT 'extension ' || extname FROM pg_extension WHERE extname <> 'plpgsql' UNION ALL SELECT 'server ' || srvname FROM pg_foreign_server
      UNION ALL SELECT 'event trigger ' || evtname FROM pg_event_trigger UNION ALL SELECT 'publication ' || pubname FROM pg_publication
      UNION ALL SELECT 'large object ' || oid FROM pg_largeobject_metadata UNION ALL SELECT 'default privileges of ' || pg_get_userbyid(defaclrole) FROM pg_default_acl""",
    "no untrusted language is open": """
      SELECT lanname::text FROM pg_language WHERE lanname NOT IN ('internal', 'c', 'sql', 'plpgsql') OR (NOT lanpltrusted AND lanacl IS NOT NULL)""",
    "no protected row hangs on a row that can be deleted": """
      SELECT conrelid::regclass || ' ' || conname FROM pg_constraint JOIN pg_class c ON c.oid = conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE contype = 'f' AND n.nspname = 'core' AND c.relname NOT IN ({deletable}) AND (confdeltype NOT IN ('a', 'r') OR confupdtype NOT IN ('a', 'r')
        OR (SELECT relnamespace FROM pg_class WHERE oid = confrelid) <> c.relnamespace)""",
    "no rule rewrites a protected table": """
      SELECT ev_class::regclass || ' ' || rulename FROM pg_rewrite JOIN pg_class c ON c.oid = ev_class JOIN pg_namespace n ON n.oid = relnamespace
      WHERE n.nspname = 'core' AND relkind <> 'v'""",
}

_HBA = "SELECT type, array_to_string(database, ','), array_to_string(user_name, ','), coalesce(address, ''), auth_method, coalesce(array_to_string(options, ','), '') FROM pg_hba_file_rules ORDER BY line_number"
_IDENT = "SELECT map_name, sys_name, pg_username FROM pg_ident_file_mappings ORDER BY line_number"


async def check_catalogue(target: Target, book: Book) -> None:
    """Asked as the superuser, by the server's own OS user."""
    cluster = [_rows("postgres", query) for query in CLUSTER.values()]
    ours = [
        (role, name, says, _filled(query, role)) for role, name in DATABASES.items() for says, query in DATABASE.items()
    ]
    names = tuple(guarded_settings(target.layout))
    server = [
        _rows("postgres", query)
        for query in (_HBA, _IDENT, f"SELECT name, setting FROM pg_settings WHERE name IN ({_list(names)})")
    ]
    outcomes = await target.run("pgadm", [*cluster, *(_rows(name, query) for _, name, _, query in ours), *server])
    for says, outcome in zip(CLUSTER, outcomes, strict=False):
        book.holds("catalogue", says, _listed(outcome["value"]))
    for (_, name, says, _), outcome in zip(ours, outcomes[len(cluster) :], strict=False):
        book.holds("catalogue", f"{name}: {says}", _listed(outcome["value"]))
    hba, ident, settings = (outcome["value"] for outcome in outcomes[-3:])
    _login_rules(target, book, hba, ident)
    _server_settings(target, book, dict(settings))


def _login_rules(target: Target, book: Book, hba: list[list[str]], ident: list[list[str]]) -> None:
    book.same(
        "catalogue",
        "pg_hba.conf holds the peer lines and nothing else",
        login_lines(target.config),
        [" ".join(part for part in row if part) for row in hba],
    )
    book.same(
        "catalogue",
        "pg_ident.conf maps nobody but the console as apps' roles and the one user of an unseparated installation",
        map_lines(target.config),
        [" ".join(row) for row in ident],
    )


def _server_settings(target: Target, book: Book, found: dict[str, str]) -> None:
    for name, value in guarded_settings(target.layout).items():
        book.same("catalogue", f"setting {name}", value, found.get(name))


def _rows(database: str, query: str) -> Attempt:
    return {"kind": "rows", "role": SUPERUSER, "database": database, "query": query}


def _filled(query: str, role: str) -> str:
    core = declared(role)
    deletable = (name for name, granted in core.grants.items() if granted.get("delete"))
    lists = {"strong": _list(("", *strong_functions(core))), "deletable": _list(("", *deletable))}
    return reduce(
        lambda text, each: text.replace(f"{{{each[0]}}}", each[1]),
        lists.items(),
        query.replace("{schemas}", _USER_SCHEMAS + (_NOT_OF_APPS if role == "console" else "")).replace("{role}", role),
    )


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _listed(rows: list[list[str]]) -> str:
    return "; ".join(str(row[0]) for row in rows)
