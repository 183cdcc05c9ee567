"""What the agent proposes to the console, over several turns, in English and German: cleanup jobs, apps, columns, rows."""

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from schemas.console.v1 import AppStated, ProposalAnswered
from schemas.outward import Owner
from schemas.work import AppDeclaration, Column, Table
from services.agent.builtin.drafts.cleaning import Cleaning, read_cleaning
from services.agent.builtin.drafts.making import read_columns, read_values
from services.agent.drafting.usecases.keep_answer import Telling, keep_answer
from services.agent.drafting.usecases.keep_app import keep_app
from shared.clock import now
from tests.services.agent.builtin.conftest import CONSOLE, Chat, Office

New = Callable[..., Chat]


@pytest.fixture
async def app(office: Office) -> AsyncIterator[str]:
    """An app that staff let the agent know of: its slug. Its table has a name of its own for each test."""
    mark = uuid4().hex[:8]
    runs = Table(
        name=f"t{mark}_runs",
        title=f"Läufe{mark}",
        columns=(Column(name="name"), Column(name="started_at", type="instant")),
    )
    stated = AppStated(
        slug=f"vsg-{mark}", shared=True, at=now(), version=1,
        declaration=AppDeclaration(slug=f"vsg-{mark}", title="VSG", kind="application", tables=(runs,)),
    )  # fmt: skip
    async with office.loop.db.transaction() as tx:
        await keep_app(tx, stated)
    yield f"vsg-{mark}"
    async with office.loop.db.transaction() as tx:
        await keep_app(tx, AppStated(slug=f"vsg-{mark}", shared=False, at=now(), version=2))


async def staged(office: Office, name: str) -> list[dict[str, Any]]:
    async with office.loop.db.reading() as tx:
        rows = await tx.raw.fetch("SELECT body FROM app.outbox WHERE name = $1 ORDER BY position DESC LIMIT 5", name)
    return [json.loads(row["body"])["data"] for row in rows]


async def test_db_06_a_sentence_becomes_a_proposal_with_the_owners_sunday(chat: New, office: Office, app: str) -> None:
    mine, table = chat(), f"t{app[4:]}_runs"
    said = await mine.say(f"Delete {table} rows older than 90 days every Sunday")
    assert mine.used == ["list_tables", "propose_cleanup_job"]
    assert (
        f"{app}.{table}" in said
        and "every Sunday at 03:00" in said
        and "dry run" in said
        and said.count("UTC") + said.count("Z)") >= 5
    )
    job = next(each for each in await staged(office, "job.proposed") if each["job"]["table"] == table)["job"]
    assert job["conditions"] == [{"column": "started_at", "op": "older_than", "value": "90", "values": []}]
    assert (job["app"], job["schedule"], job["zone"]) == (app, "every Sunday", mine.me.zone)


async def test_the_same_in_german_by_the_tables_title_and_another_day_afterwards(
    chat: New, office: Office, app: str
) -> None:
    mine = chat()
    said = await mine.say(f"Jeden Sonntag alte Läufe{app[4:]} löschen, älter als 90 Tage")
    assert "jeden Sonntag um 03:00 Uhr" in said and "Probelauf" in said
    again = await mine.say("nein, jeden Montag um 4")
    assert "jeden Montag um 04:00 Uhr" in again and "wartet auch noch" in again
    jobs = [each["job"] for each in await staged(office, "job.proposed") if each["job"]["app"] == app]
    assert [each["schedule"] for each in jobs][-1] == "Jeden Sonntag" and len(jobs) == 2


async def test_what_is_missing_is_asked_for(chat: New, app: str) -> None:
    mine, table = chat(), f"t{app[4:]}_runs"
    assert "When shall it run?" in await mine.say(f"delete {table} rows older than 2 weeks")
    assert "older than 14 days" in await mine.say("every Monday")
    assert "Which table" in await mine.say("delete old rows older than 30 days every Sunday")
    assert f"{app}.{table}" in await mine.say(table)


@pytest.mark.parametrize("said", [
    "delete connector audit rows older than 90 days every Sunday",
    "Lösche jeden Sonntag Audit-Zeilen, die älter als 90 Tage sind",
    "clean up crossings older than 30 days every night",
    "delete turns rows older than a year every month on the 1st",
    "every day delete usage_ledger rows older than 10 days",
])  # fmt: skip
async def test_au_03_what_the_platform_keeps_makes_no_job(chat: New, said: str) -> None:
    mine = chat()
    answer = await mine.say(said)
    assert "propose_cleanup_job" not in mine.used
    assert "platform" in answer.lower() or "plattform" in answer.lower()


async def test_a_table_that_is_not_known_is_left_for_the_console_to_find(chat: New, office: Office) -> None:
    name = f"q{uuid4().hex[:8]}_logs"
    assert "the console looks" in await chat().say(f"purge {name} older than 10 days every night")
    job = next(each for each in await staged(office, "job.proposed") if each["job"]["table"] == name)["job"]
    assert (job["app"], job["conditions"][0]["column"]) == ("any", "any")


async def test_apps_columns_and_rows_are_proposed(chat: New, office: Office, app: str) -> None:
    mine, table = chat(), f"t{app[4:]}_runs"
    assert "Proposed" in await mine.say("make an app for book loans with title, borrower and due on (date)")
    made = (await staged(office, "app.proposed"))[0]["declaration"]
    assert made["slug"] == "book-loans"
    assert [(each["name"], each["type"]) for each in made["tables"][0]["columns"]] == [
        ("title", "text"),
        ("borrower", "text"),
        ("due_on", "date"),
    ]
    assert "Welche Spalten" in await mine.say("erstelle eine App für Ausleihen")
    assert "Vorgeschlagen" in await mine.say("Titel, Person, fällig am (Datum)")
    assert "Proposed" in await mine.say(f"add a column cost (decimal) to {table}")
    widened = next(each for each in await staged(office, "app.proposed") if each["declaration"]["slug"] == app)[
        "declaration"
    ]
    assert [each["name"] for each in widened["tables"][0]["columns"]] == ["cost"]
    assert "Proposed" in await mine.say(f"add a record to {table}: name: first, started at: 2026-01-01")
    row = next(each for each in await staged(office, "record.proposed") if each["table"] == table)
    assert json.loads(row["rows"]) == [{"name": "first", "started_at": "2026-01-01"}]


async def test_members_and_guests_propose_nothing_to_the_console(chat: New) -> None:
    mine = chat("member")
    assert (
        "owner or admin" in await mine.say("delete vsg_runs rows older than 90 days every Sunday") and mine.used == []
    )


async def test_the_dry_run_is_told_to_the_conversation_and_the_decision_to_its_owner(
    chat: New, office: Office, app: str
) -> None:
    mine, table, told = chat(), f"t{app[4:]}_runs", []
    await mine.say(f"Delete {table} rows older than 90 days every Sunday")
    proposal = next(each for each in await staged(office, "job.proposed") if each["job"]["table"] == table)[
        "proposal_id"
    ]

    async def notify(tx: Any, owner: Owner, title: str, text: str, *, link: str = "") -> None:
        told.append((text, link))

    def answered(state: Any, version: int) -> ProposalAnswered:
        return ProposalAnswered(
            proposal_id=proposal, owner=mine.me.owner, about="job", state=state, rows=1412, bytes=903680, undated=3, understood="every Sunday at 03:00",
            next=(datetime(2026, 12, 6, 2, tzinfo=UTC),), at=now(), version=version,
        )  # fmt: skip

    for state, version in (("accepted", 2), ("waiting", 1)):
        async with office.loop.db.transaction() as tx:
            await keep_answer(tx, answered(state, version), Telling(CONSOLE, notify=notify))
    assert (
        [text for text, _ in told] == [told[0][0]]
        and "switched on" in told[0][0]
        and told[0][1].endswith(str(mine.conversation))
    )
    shown = await mine.say("what became of my cleanup jobs?")
    assert "1,412 rows" in shown and "accepted" in shown and mine.used == ["list_drafts"]


@pytest.mark.parametrize(("text", "found"), [
    ("Delete vsg_runs rows older than 90 days every Sunday", Cleaning("vsg_runs", 90, "every Sunday")),
    ("lösche jeden Sonntag Zeilen aus vsg_runs, die älter als 90 Tage sind", Cleaning("vsg_runs", 90, "jeden Sonntag")),
    ("Lösche alle Kunden älter als zwei Jahre am 1. jedes Monats", Cleaning("Kunden", 730, "am 1. jedes Monats")),
    ("purge crm.orders weekly, older than two weeks, by placed_on, where stage = lost", Cleaning("crm.orders", 14, "weekly", "placed_on", (("stage", "lost"),))),
    ("remind me every Sunday to delete files older than 90 days", None),
    ("delete files older than 90 days every day", None),
    ("what is older than 90 days?", None),
])  # fmt: skip
def test_requests_are_read_in_both_languages(text: str, found: Cleaning | None) -> None:
    assert read_cleaning(text) == found


def test_columns_and_values_as_people_write_them() -> None:
    columns = read_columns("the title, price (decimal, shareable), bought on (date) und Zahl der Räder (Zahl)")
    assert [(each["name"], each["type"], each.get("visibility", "")) for each in columns] == [
        ("title", "text", ""), ("price", "decimal", "shareable"), ("bought_on", "date", ""), ("zahl_der_raeder", "integer", ""),
    ]  # fmt: skip
    assert read_values("Name: Ada, Anna; city = London, Note: a=b") == {
        "name": "Ada, Anna",
        "city": "London",
        "note": "a=b",
    }
