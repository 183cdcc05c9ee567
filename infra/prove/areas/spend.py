"""Area spend: what the agent wrote in its ledger stays, nothing is settled that was not reserved, and the sums are those of the rows. All of it is rolled back."""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

from datetime import timedelta
from uuid import UUID, uuid5

from infra.postgres.settings import SUPERUSER
from infra.prove.check import Book, Check
from infra.prove.target import Attempt, Target
from shared.clock import now
from shared.settings import DATABASES

_MINE, _OTHERS = "prove-mine", "prove-others"
_SPACE = UUID(int=0)
OPEN, DONE, THEIRS, NEW = (str(uuid5(_SPACE, f"prove call {name}")) for name in ("open", "done", "theirs", "new"))
DENIED, NEVER, CHECKED = "42501", "23503", "23514"
PRICES = "prices.toml"


def _as(owner: str) -> str:
    return f"SELECT set_config('app.owner_kind', 'user', true), set_config('app.owner_id', '{owner}', true)"


def _reserve(call: str, owner: str = _MINE, cap: str = "1", amount: str = "0.1") -> str:
    facts = f"ARRAY['{call}'::uuid], ARRAY['{call}'::uuid], ARRAY['c'], ARRAY['m'], ARRAY['agent'], ARRAY['chat'], ARRAY['reply']"
    return f"SELECT core.reserve('user', '{owner}', {cap}, '10 minutes', {facts}, ARRAY[{amount}::numeric], ARRAY[9::bigint], ARRAY[9::bigint])"


def _settle(call: str, cost: str = "0.1", owner: str = _MINE) -> str:
    return f"SELECT core.settle('user', '{owner}', ARRAY['{call}'::uuid], ARRAY['settled'], ARRAY[1::bigint], ARRAY[1::bigint], ARRAY[NULL::bigint], ARRAY[{cost}::numeric], ARRAY[false])"


def _row(call: str, column: str = "", value: str = "", owner: str = _MINE) -> str:
    named, given = (f", {column}", f", {value}") if column else ("", "")
    return f"INSERT INTO core.usage_ledger (owner_kind, owner_id, call_id, kind, cost{named}) VALUES ('user', '{owner}', '{call}', 'settled', 0{given})"


def _held(owner: str = _MINE, until: str = "now() + interval '5 minutes'", amount: str = "0", more: tuple[str, str] = ("", "")) -> str:  # fmt: skip
    columns = f"owner_kind, owner_id, call_id, turn_id, connector, model, surface, app, purpose, expires_at, amount, most_in, most_out{more[0]}"
    return f"INSERT INTO core.reservations ({columns}) VALUES ('user', '{owner}', '{NEW}', '{NEW}', 'c', 'm', 'agent', 'chat', 'reply', {until}, {amount}, 1, 1{more[1]})"


BEFORE = (_as(_OTHERS), _reserve(THEIRS, _OTHERS), _as(_MINE), _reserve(OPEN), _reserve(DONE), _settle(DONE))
"""Two owners with a call that runs, one with a call that is settled: what the service itself may write."""
_MAKE = "CREATE OR REPLACE FUNCTION core.{} RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RETURN NEW; END $f$"

ATTEMPTS: dict[str, tuple[str, str]] = {
    "rewrite what a call cost": ("UPDATE core.usage_ledger SET cost = 0", DENIED),
    "rewrite when a call was": ("UPDATE core.usage_ledger SET at = at - interval '1 day'", DENIED),
    "delete a row of the ledger": ("DELETE FROM core.usage_ledger", DENIED),
    "a row with a time of its own": (_row(OPEN, "at", "now() - interval '2 days'"), DENIED),
    "a row with another reservation": (_row(OPEN, "reserved", "5"), DENIED),
    "a row of another model": (_row(OPEN, "model", "'free'"), DENIED),
    "a row of another owner": (_row(THEIRS, owner=_OTHERS), NEVER),
    "settle another owner's call": (_settle(THEIRS), NEVER),
    "settle a call that was never reserved": (_settle(NEW, "0"), NEVER),
    "settle a call for more than was reserved": (_settle(OPEN, "0.2"), CHECKED),
    "settle a call for less than nothing": (_settle(OPEN, "-1"), CHECKED),
    "a reservation of another owner": (_held(_OTHERS), DENIED),
    "a reservation of yesterday": (_held(more=(", at", ", now() - interval '1 day'")), DENIED),
    "a reservation for a day": (_held(until="now() + interval '1 day'"), CHECKED),
    "a reservation of less than nothing": (_held(amount="-1"), CHECKED),
    "make a reservation smaller": ("UPDATE core.reservations SET amount = 0", DENIED),
    "let a reservation live longer": ("UPDATE core.reservations SET expires_at = now() + interval '1 day'", DENIED),
    "take a reservation away": ("DELETE FROM core.reservations", DENIED),
    "rewrite the sums": ("UPDATE core.spend_minutes SET spent = 0", DENIED),
    "add to the sums": (f"INSERT INTO core.spend_minutes VALUES ('user', '{_MINE}', now(), -1, 0)", DENIED),
    "take sums away": ("DELETE FROM core.spend_minutes", DENIED),
    "replace the function that keeps the sums": (_MAKE.format("keep_spending()"), DENIED),
    "replace the function that copies a call's facts": (_MAKE.format("book_usage()"), DENIED),
    "take its rights from the function that keeps the sums": ("ALTER FUNCTION core.keep_spending() SECURITY INVOKER", DENIED),
}  # fmt: skip
"""What is tried as the owner of the calls, and the code that it must be refused with."""

_OF_DONE = f"FROM core.usage_ledger WHERE call_id = '{DONE}'"
WITHOUT_EFFECT: dict[str, tuple[str, str]] = {
    "settle a call twice": (_settle(DONE, "0"), f"SELECT count(*) = 1 AND sum(cost) = 0.1 {_OF_DONE}"),
    "settle a call that is not in the sums": (_settle(OPEN), f"SELECT sum(spent) = 0.2 FROM core.spend_minutes WHERE owner_id = '{_MINE}'"),
    "reserve above the cap": (_reserve(NEW, cap="0.25"), f"SELECT NOT EXISTS (SELECT FROM core.reservations WHERE call_id = '{NEW}')"),
    "reserve at the cap": (_reserve(NEW, cap="0.2", amount="0.000000000000000001"), f"SELECT NOT EXISTS (SELECT FROM core.reservations WHERE call_id = '{NEW}')"),
    "read what another owner spent": ("SELECT 1", f"SELECT spent = 0 AND reserved = 0 FROM core.spending('user', '{_OTHERS}', now() - interval '1 day')"),
    "read the ledger as nobody": (_as(""), "SELECT NOT EXISTS (SELECT FROM core.usage_ledger) AND NOT EXISTS (SELECT FROM core.reservations) AND NOT EXISTS (SELECT FROM core.spend_minutes)"),
}  # fmt: skip

_DIFFERENT = """
WITH added AS (SELECT owner_kind, owner_id, date_trunc('minute', at) AS minute, coalesce(sum(cost), 0) AS spent, count(*) FILTER (WHERE cost IS NULL) AS unknown
  FROM core.usage_ledger WHERE at >= date_trunc('minute', now()) - interval '47 hours' GROUP BY 1, 2, 3),
kept AS (SELECT owner_kind, owner_id, minute, spent, unknown FROM core.spend_minutes WHERE minute >= date_trunc('minute', now()) - interval '47 hours')
SELECT owner_kind || ':' || owner_id || ' at ' || minute FROM (TABLE added EXCEPT TABLE kept) a
UNION SELECT owner_kind || ':' || owner_id || ' at ' || minute FROM (TABLE kept EXCEPT TABLE added) b LIMIT 5"""
_STUCK = "SELECT call_id::text FROM core.reservations WHERE expires_at < now() - interval '1 minute' LIMIT 5"
_DEFINERS = """SELECT n.nspname || '.' || proname FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"""
_SUM = "SELECT count(*)::text, coalesce(sum(cost), 0)::numeric(40, 18)::text FROM {} WHERE settled_at > $1::text::timestamptz AND settled_at <= $2::text::timestamptz"


async def check(target: Target) -> list[Check]:
    book = Book("spend")
    await check_rows(target, book)
    await check_sums(target, book)
    await check_prices(target, book)
    return book.checks


async def check_rows(target: Target, book: Book) -> None:
    """With the agent's own role, in its own database."""
    tried: dict[str, Attempt] = {
        **{says: _sql(statement, codes=[code]) for says, (statement, code) in ATTEMPTS.items()},
        **{says: _sql(statement, verify=verify) for says, (statement, verify) in WITHOUT_EFFECT.items()},
    }
    for says, outcome in zip(tried, await target.run("agent", list(tried.values())), strict=True):
        book.outcome("agent", says, outcome)


async def check_sums(target: Target, book: Book) -> None:
    """What stands there now, read by the server's own user."""
    agent, console = DATABASES["agent"], DATABASES["console"]
    until = now() - timedelta(seconds=60)
    args = [(until - timedelta(hours=24)).isoformat(), until.isoformat()]
    asked = [_rows(agent, query) for query in (_DIFFERENT, _STUCK, _DEFINERS)]
    asked += [_rows(agent, _SUM.format("core.usage_ledger"), args), _rows(console, _SUM.format("app.spend"), args)]
    different, stuck, definers, ledger, copy = [each["value"] for each in await target.run("pgadm", asked)]
    book.holds("agent", "the sums by minute are those of the ledger's rows", "; ".join(row[0] for row in different))
    book.holds("agent", "no reservation is left a minute after it expired", ", ".join(row[0] for row in stuck))
    book.same("agent", "the one function with its owner's rights", [["core.keep_spending"]], definers)
    book.same("console", "its copy of the ledger's last day has the same calls and the same sum", ledger, copy)


async def check_prices(target: Target, book: Book) -> None:
    """Whoever could write what a model costs, could spend as if there were no cap."""
    says = "write what models cost"
    if not target.separated:
        book.open("agent", says)
        return
    path = target.layout.state / PRICES
    for user in target.users:
        if user not in ("root", "admin"):
            (outcome,) = await target.run(user, [{"kind": "files", "op": "write", "path": str(path)}])
            book.outcome(user, says, outcome)


def _sql(statement: str, **more: object) -> Attempt:
    return {"kind": "sql", "role": "agent", "database": DATABASES["agent"], "before": list(BEFORE), "statement": statement, **more}  # fmt: skip


def _rows(database: str, query: str, args: list[str] | None = None) -> Attempt:
    return {"kind": "rows", "role": SUPERUSER, "database": database, "query": query, "args": args or []}
