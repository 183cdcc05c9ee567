"""Area row security: what is one owner's is seen and changed by nobody else, whatever is asked and however (architecture 4, rule 24, DB-03)."""

from collections.abc import Sequence

from infra.postgres.core import declared
from infra.postgres.owned import MINE, POLICY
from infra.postgres.settings import SUPERUSER
from infra.prove.check import Book, Check
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES

SERVICE = "agent"
_FORCED = """SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class
  WHERE relnamespace = 'core'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1"""
_POLICIES = (
    "SELECT tablename, policyname, permissive, roles::text[], cmd, qual, with_check FROM pg_policies ORDER BY 1, 2"
)
_NAMES_OWNERS = """SELECT relname FROM pg_class c WHERE relnamespace = 'core'::regnamespace AND relkind IN ('r', 'p')
  AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'owner_id' AND NOT attisdropped) ORDER BY 1"""
_LOOKING = """SELECT DISTINCT v.oid::regclass || ' over ' || t.oid::regclass FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
  JOIN pg_class v ON v.oid = r.ev_class JOIN pg_class t ON t.oid = d.refobjid
  WHERE d.classid = 'pg_rewrite'::regclass AND t.relnamespace = 'core'::regnamespace AND v.oid <> t.oid ORDER BY 1"""


async def check(target: Target) -> list[Check]:
    book = Book("row security")
    await check_declared(target, book)
    await check_division(target, book)
    return book.checks


async def check_declared(target: Target, book: Book) -> None:
    """In every database: divided tables are those declared, each by the one policy, and nothing looks past it."""
    for service, database in DATABASES.items():
        core = declared(service)
        asked = [_rows(database, query) for query in (_FORCED, _POLICIES, _NAMES_OWNERS, _LOOKING)]
        forced, policies, naming, looking = [outcome["value"] for outcome in await target.run("pgadm", asked)]
        divided = sorted(name for name, on in forced if on)
        book.same("definition", f"{database}: tables whose row security is on and forced", sorted(core.owned), divided)
        expected = [[name, POLICY, "PERMISSIVE", ["public"], "ALL", MINE, MINE] for name in sorted(core.owned)]
        book.holds("definition", f"{database}: each by the one policy, and no other one", _apart(expected, policies))
        undivided = [row[0] for row in naming if row[0] not in core.owned]
        book.holds(
            "definition", f"{database}: whatever names an owner in core is divided by owner", ", ".join(undivided)
        )
        book.holds(
            "definition", f"{database}: no view looks at a protected table", "; ".join(row[0] for row in looking)
        )


async def check_division(target: Target, book: Book) -> None:
    """Every divided table x every way to it x everybody but its owner."""
    (outcome,) = await target.run("pgadm", [{"kind": "division", "service": SERVICE}])
    rows = outcome["value"]
    for actor, attempt, expected, got, detail in rows:
        book.add(actor, attempt, expected, got, detail)
    tables = {attempt.partition(":")[0].partition(",")[0] for _, attempt, *_ in rows}
    book.same(
        "division",
        "tables that were attacked",
        sorted(f"core.{name}" for name in declared(SERVICE).owned),
        sorted(tables),
    )


def _apart(expected: Sequence[Sequence[object]], got: Sequence[Sequence[object]]) -> str:
    missing = [str(each[0]) for each in expected if each not in got]
    return "; ".join([f"{name} has not the one policy" for name in missing] + [f"{each[0]} has {each[1]}: {each[5]}" for each in got if each not in expected])[:400]  # fmt: skip


def _rows(database: str, query: str) -> Attempt:
    return {"kind": "rows", "role": SUPERUSER, "database": database, "query": query}
