"""Area apps: what apps' code can reach, which of their roles reaches what, and whether what runs is what a person approved (S4)."""

# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608
from base64 import b64decode
from pathlib import Path
from typing import Any

from infra.local.layout import APPS
from infra.postgres import app_roles
from infra.postgres.settings import SUPERUSER
from infra.prove.check import IN_CONTAINERS, Book, Check
from infra.prove.target import Attempt, Target
from schemas.statements import Signed
from schemas.work import AppApproval
from shared.apps.folder import folder_hash
from shared.errors import BadSignature
from shared.settings import DATABASES
from shared.signing import PublicKeys

MINE = r"n.nspname ~ '^app_[a-z]'"
"""Schemas of apps; the service's own is `app`."""
_OURS = "coalesce(g.rolname, 'PUBLIC')"
_ROLE = "(SELECT role FROM app.apps WHERE 'app_' || replace(slug, '-', '_') = n.nspname)"
SCHEMAS: dict[str, str] = {
    "every schema of an app belongs to the owner role, and to an app": f"""
      SELECT nspname || ' of ' || pg_get_userbyid(nspowner) FROM pg_namespace n WHERE {MINE} AND (pg_get_userbyid(nspowner) <> 'console_owner'
        OR NOT EXISTS (SELECT FROM app.apps WHERE 'app_' || replace(slug, '-', '_') = n.nspname))""",
    "the console makes tables there, the app's role looks in, and nobody else": f"""
      SELECT nspname || ': ' || {_OURS} || ' ' || privilege_type FROM pg_namespace n, aclexplode(nspacl) a LEFT JOIN pg_roles g ON g.oid = a.grantee
      WHERE {MINE} AND a.grantee <> nspowner AND (is_grantable OR NOT (coalesce(g.rolname = 'console', false)
        OR coalesce(g.rolname = {_ROLE} AND privilege_type = 'USAGE', false)))""",
    "tables of apps belong to the console": f"""
      SELECT n.nspname || '.' || relname || ' of ' || pg_get_userbyid(relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
      WHERE {MINE} AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND pg_get_userbyid(relowner) <> 'console'""",
    "only the app's own role reads them, and nobody else does anything": f"""
      SELECT n.nspname || '.' || relname || ': ' || {_OURS} || ' ' || privilege_type FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace,
        aclexplode(relacl) a LEFT JOIN pg_roles g ON g.oid = a.grantee
      WHERE {MINE} AND a.grantee <> relowner AND (is_grantable OR NOT coalesce(g.rolname = {_ROLE} AND privilege_type = 'SELECT', false))""",
    "no function, rule or trigger of anybody stands there": f"""
      SELECT n.nspname || '.' || proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE {MINE}
      UNION ALL SELECT tgrelid::regclass || ' ' || tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid JOIN pg_namespace n ON n.oid = relnamespace
        WHERE {MINE} AND NOT tgisinternal AND pg_get_userbyid(relowner) <> 'console'""",
    "no role of an app reaches another schema": f"""
      SELECT r.rolname || ' ' || n.nspname FROM pg_roles r, pg_namespace n WHERE r.rolname IN ({app_roles.LISTED})
        AND (n.nspname IN ('app', 'core') OR ({MINE} AND r.rolname IS DISTINCT FROM {_ROLE}))
        AND (has_schema_privilege(r.oid, n.oid, 'USAGE') OR has_schema_privilege(r.oid, n.oid, 'CREATE'))""",
    "no role of an app makes anything": f"""
      SELECT r.rolname || ' in ' || n.nspname FROM pg_roles r, pg_namespace n WHERE r.rolname IN ({app_roles.LISTED}) AND has_schema_privilege(r.oid, n.oid, 'CREATE')
      UNION ALL SELECT rolname || ' has ' || rolconnlimit || ' connections' FROM pg_roles WHERE rolname IN ({app_roles.LISTED}) AND rolconnlimit <> {app_roles.CONNECTIONS}
      UNION ALL SELECT rolname || ' inherits' FROM pg_roles WHERE rolname IN ({app_roles.LISTED}) AND rolinherit""",
    "roles of apps carry their limits": f"""
      SELECT v.rolname || ': ' || v.setting FROM (SELECT rolname, unnest(ARRAY[{", ".join(f"'{name}={value}'" for name, value in app_roles.SETTINGS.items())}]) AS setting
        FROM pg_roles WHERE rolname IN ({app_roles.LISTED})) v
      WHERE NOT EXISTS (SELECT FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole WHERE r.rolname = v.rolname AND v.setting = ANY (s.setconfig))""",
}
"""Each query lists what is wrong; nothing is right."""
_APPROVED = """SELECT a.slug, a.folder_hash, d.payload::text, d.signature::text, d.key_id FROM app.apps a LEFT JOIN LATERAL
  (SELECT * FROM app.app_decisions d WHERE d.slug = a.slug AND d.verdict <> 'refuse' ORDER BY version DESC LIMIT 1) d ON true WHERE a.state = 'installed'"""
_FILES = "SELECT folder_hash, path, encode(content, 'base64') FROM app.app_files WHERE folder_hash IN (SELECT folder_hash FROM app.apps WHERE state = 'installed')"
_KEYS = "SELECT key_id, public_key FROM app.decision_keys WHERE state NOT IN ('refused', 'revoked')"


async def check(target: Target) -> list[Check]:
    book = Book("apps")
    await check_schemas(target, book)
    await check_approvals(target, book)
    await check_roles(target, book)
    await check_process(target, book)
    await check_code(target, book)
    return book.checks


async def check_schemas(target: Target, book: Book) -> None:
    outcomes = await target.run("pgadm", [_rows(query) for query in SCHEMAS.values()])
    for says, outcome in zip(SCHEMAS, outcomes, strict=True):
        found = outcome["value"] if outcome["got"] == "done" else [[outcome["detail"]]]
        book.holds("catalogue", says, "; ".join(str(row[0]) for row in found))


async def check_approvals(target: Target, book: Book) -> None:
    """What is in service was signed for, by its folder's hash, and the folder is that one."""
    approved, files, keys = (each["value"] for each in await target.run("pgadm", [_rows(query) for query in (_APPROVED, _FILES, _KEYS)]))  # fmt: skip
    known = PublicKeys({})
    for key_id, public in keys:
        known.add("decision", key_id, b64decode(public))
    folders: dict[str, dict[str, bytes]] = {}
    for name, path, content in files:
        folders.setdefault(name, {})[path] = b64decode(content)
    wrong = [f"{slug}: {fault}" for slug, *row in approved if (fault := _fault(slug, row, folders, known))]
    book.holds("console", "every app in service is exactly what a person approved", "; ".join(wrong[:5]))


def _fault(slug: str, row: list[Any], folders: dict[str, dict[str, bytes]], known: PublicKeys) -> str:
    folder, payload, signature, key_id = row
    if payload is None:
        return "nobody approved it"
    try:
        signed = Signed(payload=_bytea(payload), signature=_bytea(signature), key_id=key_id)
        word = known.verify("decision", signed, AppApproval)
    except (BadSignature, ValueError) as error:
        return str(error)
    if (word.slug, word.folder_hash, word.verdict) != (slug, folder, "install"):
        return "the approval is for something else"
    if folder in folders and folder_hash(folders[folder]) != folder:
        return "its files are others than those that were approved"
    return ""


async def check_roles(target: Target, book: Book) -> None:
    """Only the console becomes an app's role, and only in its own database."""
    role = app_roles.ROLES[0]
    if not target.separated:
        book.open("apps", "log in as an app's role")
        return
    tried: list[Attempt] = [
        {"kind": "connects", "role": role, "database": name} for name in (*DATABASES.values(), "postgres")
    ]
    for user in target.users:
        for attempt, outcome in zip(tried, await target.run(user, tried), strict=True):
            opens = (user, attempt["database"]) == ("console", app_roles.DATABASE)
            book.outcome(user, f"connect as {role}: {attempt['database']}", outcome, "done" if opens else "refused")


async def check_process(target: Target, book: Book) -> None:
    """As the kernel sees it; its user and rights are looked at with all others' (area database)."""
    if target.config.containers:
        book.open(APPS, "what its process is", "as designed", IN_CONTAINERS)
        return
    pid = target.pids.get(APPS)
    book.holds(APPS, "the part that runs apps is there", "" if pid else "no process of it runs")
    if pid and target.separated:
        hidden = _is_hidden(pid)
        book.holds(APPS, "it cannot be looked into", "" if hidden else "its memory can be read by its own user")
        book.holds(
            APPS,
            "it is in a network of its own",
            "" if _network(str(pid)) != _network("self") else "it shares the machine's network",
        )


def _is_hidden(pid: int) -> bool:
    """Of a process that cannot be looked into, /proc belongs to root."""
    return Path(f"/proc/{pid}/environ").stat().st_uid == 0


def _network(pid: str) -> str:
    return Path(f"/proc/{pid}/ns/net").readlink().name


async def check_code(target: Target, book: Book) -> None:
    """A hostile app, run as every app is; and others than the console are not let in."""
    attempt: Attempt = {"kind": "apps", "port": target.config.ports["nats"]}
    for user in target.users if target.separated else ():
        if user != "console":
            (outcome,) = await target.run(user, [attempt])
            book.outcome(user, "have code run as an app", outcome)
    (outcome,) = await target.run("console", [attempt])
    if outcome["got"] != "done":
        book.add("console", "run an app", "done", outcome["got"], str(outcome.get("detail", "")))
        return
    for name, how in outcome["value"].items():
        book.add("app", name, "refused", "done" if how == "DONE" else "refused")


def _rows(query: str) -> Attempt:
    return {"kind": "rows", "role": SUPERUSER, "database": DATABASES["console"], "query": query}


def _bytea(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("\\x"))
