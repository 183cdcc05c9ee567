"""Mail accounts laid open behind the product's back, and fronts that misbehave in one respect: prove finds what could then be read, kept or sent."""

import json

import pytest

from infra.prove.areas.mail import ASKED, check_kept, check_pages, check_rows
from infra.prove.check import Book
from tests.prove.conftest import Proving
from tests.prove.fakes import SOUND_HEADERS, Reply, Request, front
from tests.prove.planting import Hole, by_sql, named, see


def hole(name: str, found_by: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_rows, found_by, "agent_db", plant, heal)


def kept(name: str, found_by: str, database: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_kept, found_by, database, plant, heal)


_LEFT_BEHIND = """
ALTER TABLE app.mail_accounts DROP CONSTRAINT mail_accounts_person_id_fkey
INSERT INTO app.mail_accounts (account_id, person_id, label, connector, secret, address, reads, sends, at, deleted_at, version) VALUES ('00000000-0000-4000-8000-00000000dead', gen_random_uuid(), 'x', 'prove', 'left', 'x@example.org', true, false, now(), now() - interval '1 day', 2)
INSERT INTO app.secrets (place, surface, connector, owner, name, type, state, current, versions, public, operations, statement_hash, at, version) SELECT concat('agent/prove/user:', person_id, '/left-imap'), 'agent', 'prove', '', 'left-imap', 'imap', 'active', 1, '[]', '{}', '[]', 'prove', now(), 1 FROM app.mail_accounts WHERE secret = 'left'
INSERT INTO app.secret_changes (statement_hash, place, action, version, by_name, reason, at, outcome) SELECT 'prove', place, 'revoke', 1, 'x', 'x', now(), 'sent' FROM app.secrets WHERE name = 'left-imap'
"""
_HEALED = """
DELETE FROM app.secret_changes WHERE statement_hash = 'prove'
DELETE FROM app.secrets WHERE name = 'left-imap'
DELETE FROM app.mail_accounts WHERE secret = 'left'
ALTER TABLE app.mail_accounts ADD CONSTRAINT mail_accounts_person_id_fkey FOREIGN KEY (person_id) REFERENCES app.people (id)
"""
HOLES = [
    hole("accounts that can be given away", "give a mail account to another owner", "GRANT UPDATE (owner_id) ON core.email_accounts TO agent\nALTER TABLE core.email_accounts DISABLE ROW LEVEL SECURITY", "REVOKE UPDATE (owner_id) ON core.email_accounts FROM agent\nALTER TABLE core.email_accounts ENABLE ROW LEVEL SECURITY"),
    hole("accounts that are everybody's", "a mail account of another owner", "ALTER TABLE core.email_accounts DISABLE ROW LEVEL SECURITY", "ALTER TABLE core.email_accounts ENABLE ROW LEVEL SECURITY"),
    hole("accounts that everybody reads", "read another owner's mail accounts", "CREATE POLICY open ON core.email_accounts FOR SELECT USING (true)", "DROP POLICY open ON core.email_accounts"),
    hole("accounts that everybody points elsewhere", "point another owner's account", "CREATE POLICY open ON core.email_accounts USING (true)", "DROP POLICY open ON core.email_accounts"),
    hole("accounts of guests", "a mail account of a guest", "ALTER TABLE core.email_accounts DROP CONSTRAINT email_accounts_of_people", "ALTER TABLE core.email_accounts ADD CONSTRAINT email_accounts_of_people CHECK (owner_kind = 'user')"),
    kept("room for a password with the agent", "all that core.email_accounts holds", "agent_db", "ALTER TABLE core.email_accounts ADD COLUMN password text", "ALTER TABLE core.email_accounts DROP COLUMN password"),
    kept("room for a password with the console", "all that app.mail_accounts holds", "console_db", "ALTER TABLE app.mail_accounts ADD COLUMN password text", "ALTER TABLE app.mail_accounts DROP COLUMN password"),
    kept("a secret that outlives its account", "no secret outlives", "console_db", _LEFT_BEHIND, _HEALED),
]  # fmt: skip


@pytest.mark.stack
@pytest.mark.parametrize("planted", named(HOLES[::2]))
def test_a_planted_hole_in_mail_accounts_is_found(proving: Proving, planted: Hole) -> None:
    see(planted, proving.stack)


@pytest.mark.long
@pytest.mark.stack
@pytest.mark.parametrize("planted", named(HOLES[1::2]))
def test_another_planted_hole_in_mail_accounts_is_found(proving: Proving, planted: Hole) -> None:
    see(planted, proving.stack)


async def failed(hole: str) -> list[str]:
    """What is found wrong with fronts that have this one hole; "" for sound ones."""

    def answer(request: Request) -> Reply:
        if request.path == "/api/v1/turns":
            used = ["email_accounts"] if hole == "guests have tools" else []
            return (
                200,
                {**SOUND_HEADERS, "Set-Cookie": "guest=1.x; HttpOnly"},
                json.dumps({"token": "t", "tools": used}),
            )
        if request.method == "GET":
            return (200 if hole == "open page" else 303), SOUND_HEADERS, ""
        return (403 if "Origin" in request.headers and hole != "foreign origin" else 303), SOUND_HEADERS, ""

    book = Book("mail")
    with front(answer) as base:
        await check_pages(book, base, base)
    return [f"{each.actor}: {each.attempt}" for each in book.checks if not each.ok]


async def test_sound_fronts_have_no_hole() -> None:
    assert await failed("") == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("guests have tools", f"a guest: tools used for “{ASKED[0]}”"),
        ("open page", "nobody: GET /me/mail"),
        ("foreign origin", "a foreign page: POST /me/mail"),
    ],
)
async def test_a_planted_hole_on_pages_of_mail_is_found(planted: str, found: str) -> None:
    assert found in await failed(planted)
