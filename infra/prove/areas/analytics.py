"""Area analytics: what visitors did is kept without a word of theirs, every change of it is noted for the copy, and the copy is the console's alone."""

from infra.postgres.settings import SUPERUSER
from infra.prove.check import Book, Check
from infra.prove.target import Target
from shared.settings import DATABASES

_UNNOTED = """
SELECT wanted.place || ' ' || wanted.name FROM (VALUES
  ('app.interactions', 'note_insert_new'), ('app.interactions', 'note_delete_old'), ('app.interactions', 'note_update_old'), ('app.interactions', 'note_update_new'), ('app.interactions', 'note_truncate'),
  ('app.calls', 'note_insert_new'), ('app.calls', 'note_delete_old'), ('app.calls', 'note_update_old'), ('app.calls', 'note_update_new'), ('app.calls', 'note_truncate'),
  ('app.spend', 'note_insert_new'), ('app.spend', 'note_delete_old'), ('app.spend', 'note_update_old'), ('app.spend', 'note_update_new'), ('app.spend', 'note_truncate')) wanted(place, name)
WHERE NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = wanted.place::regclass AND t.tgname = wanted.name AND t.tgenabled IN ('O', 'A')) ORDER BY 1"""
_TELLING = """
SELECT load::text || '/' || n FROM (SELECT * FROM app.interactions ORDER BY load DESC, n DESC LIMIT 100000) newest
WHERE visitor !~ '^[0-9a-f]{16}$' OR referrer !~ '^[a-z0-9.:\\[\\]-]*$' OR length(referrer) > 253 LIMIT 5"""
_WORDS = """
SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'app' AND table_name = 'interactions'
AND column_name NOT IN ('load', 'n', 'at', 'kind', 'item_id', 'lang', 'path', 'referrer', 'link_id', 'visitor', 'value')"""
_UNSAID = "SELECT id::text FROM app.rollup_runs WHERE engine = 'clickhouse' AND length(trim(reason)) < 3 LIMIT 5"


async def check(target: Target) -> list[Check]:
    book = Book("analytics")
    await check_rows(target, book)
    await check_copy(target, book)
    return book.checks


async def check_rows(target: Target, book: Book) -> None:
    """What stands there now, read by the server's own user."""
    asked = [
        {"kind": "rows", "role": SUPERUSER, "database": DATABASES["console"], "query": query, "args": []}
        for query in (_UNNOTED, _TELLING, _WORDS, _UNSAID)
    ]
    unnoted, telling, words, unsaid = [each["value"] for each in await target.run("pgadm", asked)]
    for says, found in {
        "every change of what is rolled up is noted for ClickHouse (rule 23)": unnoted,
        "a visitor is a pseudonym of the day, and a referrer the name of a host (S7)": telling,
        "what visitors wrote is not among what they did": words,
        "nobody asked ClickHouse without saying why": unsaid,
    }.items():
        book.holds("console", says, ", ".join(row[0] for row in found))


async def check_copy(target: Target, book: Book) -> None:
    """Whoever could enter its folder could ask it, or answer in its place."""
    says = "look into the copy in ClickHouse"
    folder = target.layout.run / "console" / "warehouse"
    if not target.separated:
        book.open("console", says)
        return
    if not folder.exists():
        return
    for user in target.users:
        if user not in ("root", "admin", "console"):
            (outcome,) = await target.run(user, [{"kind": "files", "op": "list", "path": str(folder)}])
            book.outcome(user, says, outcome)
