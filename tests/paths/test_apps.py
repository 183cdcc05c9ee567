"""From a folder to a page: sent, shown on a card, approved, run apart, stopped; changed bytes run nowhere (DB-*, S4)."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from shared.errors import Refused
from shared.operator import call
from tests.factories.apps import app_of, berths, sent, write
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until


def fresh(stem: str) -> str:
    return f"{stem}-{uuid4().hex[:8]}"


def installed(stack: Stack, files: dict[str, bytes]) -> dict[str, Any]:
    found = call(stack.state, "console", "apps.install", {"files": sent(files)})
    return call(stack.state, "console", "apps.decide", {"app": found["folder_hash"], "verdict": "install"})


def put(stack: Stack, slug: str, what: str) -> None:
    assert stack.rows("console", f'INSERT INTO "app_{slug.replace("-", "_")}".{what} RETURNING 1')


def inside(person: Person, path: str) -> str:
    """What the frame of a page shows."""
    shown = person.page(path)
    assert shown.status_code == 200, shown.text[-500:]
    frame = re.search(r'<iframe [^>]*sandbox="" src="([^"]+)"', shown.text)
    assert frame, shown.text[-1500:]
    person_free = Person(person.base)
    answer = person_free.page(frame[1].replace("&amp;", "&"))
    assert (
        "sandbox" in answer.headers["content-security-policy"]
        and answer.headers["cache-control"] == "private, no-store"
    )
    return answer.text


def test_a_folder_becomes_an_app_by_a_persons_word(stack: Stack, owner: Person, tmp_path: Path) -> None:
    slug = fresh("berths")
    folder = write(berths(slug), tmp_path / slug)
    told = stack.cli("apps", "install", str(folder))
    assert told["state"] == "waiting"
    card = f"/cards/apps/{told['folder_hash']}"
    shown = owner.page(card)
    assert "models.py" in shown.text and "It has code" in shown.text
    assert owner.page(f"/applications/{slug}/").status_code == 404
    assert owner.send(f"{card}/decide", card, verdict="install").status_code == 303
    until(lambda: "boats" in owner.page(f"/apps/{slug}").text, 60, "its tables are there")
    put(stack, slug, "boats (registration, name, length) VALUES ('D1', 'Möwe <b>', 12.50)")
    assert "12.50" in inside(owner, f"/applications/{slug}/-/longest") and "Möwe &lt;b&gt;" in inside(
        owner, f"/applications/{slug}/-/longest"
    )
    assert "Nobody." in inside(owner, f"/applications/{slug}/")
    again = stack.cli("apps", "install", str(folder))
    assert again["state"] == "installed"
    stack.run("apps", "stop", slug, "--reason", "enough")
    assert "stopped" in inside(owner, f"/applications/{slug}/")


def test_a_page_reads_its_own_tables_only_and_writes_nothing(stack: Stack, owner: Person) -> None:
    other = installed(stack, berths(fresh("other")))
    pages = """
from schleuse_app import page, AppError

@page("")
async def tries(request, db):
    said = []
    for sql in ("SELECT 1 AS one", "SELECT * FROM app.people", 'SELECT * FROM "OTHER".boats', "SELECT * FROM core.nothing", "DELETE FROM things",
                "WITH x AS (DELETE FROM things RETURNING *) SELECT * FROM x", "SELECT pg_sleep(1); SELECT 1", "SELECT lo_create(0)", "SELECT set_config('transaction_read_only', 'off', false)",
                "SELECT pg_read_file('/etc/passwd')", "SELECT repeat('x', 900000) AS x", "SELECT generate_series(1, 20000) AS n"):
        try:
            said.append(f"{sql}: {len(await db.rows(sql))} rows")
        except AppError as error:
            said.append(f"{sql}: NO {error}")
    try:
        await db.add("things", [{"name": "x"}])
        said.append("WROTE")
    except AppError as error:
        said.append(str(error))
    return "\\n".join(said)
""".replace("OTHER", f"app_{other['slug'].replace('-', '_')}")
    models = "from sqlalchemy import *\nmetadata = MetaData()\nthings = Table('things', metadata, Column('name', Text, primary_key=True))\n"
    slug = fresh("peeps")
    installed(stack, app_of(slug, models=models, pages=pages))
    lines = inside(owner, f"/applications/{slug}/").split("\n")
    said = [line for line in lines if line.startswith(("SELECT", "DELETE", "WITH"))]
    assert len(said) == 12, lines
    assert "1 rows" in said[0]
    assert all(": NO " in line for line in said[1:]), said
    assert any("A page reads only" in line for line in lines)


def test_changed_after_approval_runs_nowhere(stack: Stack, owner: Person) -> None:
    slug = fresh("changed")
    app = installed(
        stack,
        app_of(
            slug,
            pages="from schleuse_app import page\n\n@page('')\nasync def front(request, db):\n    return 'as approved'\n",
        ),
    )
    assert "as approved" in inside(owner, f"/applications/{slug}/")
    change = f"UPDATE app.app_files SET content = convert_to('raise SystemExit', 'UTF8') WHERE folder_hash = '{app['folder_hash']}' AND path = 'pages.py' RETURNING 1"
    assert stack.rows("console", change)
    stack.rows("console", f"UPDATE app.apps SET version = version + 1 WHERE slug = '{slug}' RETURNING 1")
    assert "changed after it was approved" in inside(owner, f"/applications/{slug}/")
    assert "broken" in inside(owner, f"/applications/{slug}/")


@pytest.mark.long
def test_an_apps_job_runs_and_its_history_stays(stack: Stack) -> None:
    slug = fresh("jobs")
    installed(stack, berths(slug))
    put(stack, slug, "boats (registration, name) VALUES ('D1', 'Möwe')")
    put(stack, slug, "berths (boat, place, until) VALUES ('D1', 'north', '2020-01-01')")
    call(stack.state, "console", "apps.job", {"app": slug, "job": "leave", "do": "run"})

    def newest() -> dict[str, Any]:
        return next(iter(call(stack.state, "console", "apps.jobs", {"app": slug})["runs"]), {})

    until(lambda: newest().get("state") not in (None, "running"), 60, "the run has ended")
    assert (newest()["state"], newest()["output"].strip()) == ("done", "1 left"), newest()
    call(stack.state, "console", "apps.job", {"app": slug, "job": "leave", "do": "on", "zone": "Europe/Berlin"})
    [job] = call(stack.state, "console", "apps.jobs", {"app": slug})["jobs"]
    assert job["is_on"] and job["next_at"]
    for odd in ("\x00", "Mars/Olympus"):
        with pytest.raises(Refused, match="no time zone"):
            call(stack.state, "console", "apps.job", {"app": slug, "job": "leave", "do": "off", "zone": odd})


@pytest.mark.long
def test_an_app_that_loops_or_eats_memory_takes_nothing_down(stack: Stack, owner: Person) -> None:
    pages = "from schleuse_app import page\n\n@page('')\nasync def loop(request, db):\n    while True:\n        pass\n\n@page('fine')\nasync def fine(request, db):\n    return 'fine'\n\n@page('eats')\nasync def eats(request, db):\n    held = []\n    while True:\n        held.append(bytearray(10**7))\n"
    slug = fresh("loops")
    installed(stack, app_of(slug, pages=pages))
    assert "longer than 10 s" in inside(owner, f"/applications/{slug}/")
    assert "MemoryError" in inside(owner, f"/applications/{slug}/-/eats")
    assert "fine" in inside(owner, f"/applications/{slug}/-/fine")
