"""What the connectors did, in the console's audit: every call over the bus, once, and harmless whatever it says."""

import csv
import io
import json
from pathlib import Path
from uuid import uuid4

import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


def record(stack: Stack, **call: object) -> str:
    return str(stack.ask("connectors", "calls.record", **call)["entry_id"])


def arrived(stack: Stack, entry_id: str) -> bool:
    return bool(stack.rows("console", f"SELECT 1 FROM app.calls WHERE entry_id = '{entry_id}'"))


def test_a_call_of_the_connectors_reaches_the_audit_page(stack: Stack, moderator: Person) -> None:
    mark = uuid4().hex[:10]
    call = {
        "asker": "agent",
        "connector": f"mail-{mark}",
        "operation": "messages.send",
        "target": f"{mark}.example.org",
    }
    good = record(stack, **call, outcome="ok", status="200")
    bad = record(stack, **call, outcome="refused", status="not on the list of hosts")
    until(lambda: arrived(stack, good) and arrived(stack, bad), 10)
    shown = moderator.page("/audit", q=mark).text
    assert "2 found" in shown and "not on the list of hosts" in shown
    failed = moderator.page("/audit", q=mark, result="bad").text
    assert "1 found" in failed and ">ok" not in failed.split('<tbody id="entries"')[-1]
    assert "1 found" not in moderator.page("/audit", connector=f"mail-{mark}").text
    assert "No entry fits" in moderator.page("/audit", q=mark, to="2020-01-01").text
    found = moderator.page("/audit/export.json", q=mark).json()
    assert [(row["connector"], row["outcome"]) for row in found] == [
        (f"mail-{mark}", "refused"),
        (f"mail-{mark}", "ok"),
    ]
    assert (
        "1 found"
        in moderator.page("/audit", q=mark, result="ok", asker="agent", target=f"{mark}.ex", status="200").text
    )
    assert "No entry fits" in moderator.page("/audit", q=mark, owner="user:7").text
    assert moderator.page("/audit", result="odd").status_code == 422


def test_what_a_call_says_can_do_nothing_on_the_page_or_in_a_spreadsheet(stack: Stack, moderator: Person) -> None:
    mark = uuid4().hex[:10]
    target = f"=HYPERLINK(1)<script>alert(1)</script>\u202e{mark}"
    entry = record(stack, target=target, operation="<img src=x onerror=alert(1)>")
    until(lambda: arrived(stack, entry), 10)
    shown = moderator.page("/audit", q=mark).text
    assert "<script>alert" not in shown and "<img src=x" not in shown
    assert "&lt;script&gt;" in shown and "U+202E" in shown
    rows = list(csv.DictReader(io.StringIO(moderator.page("/audit/export.csv", q=mark).text)))
    assert [row["target"] for row in rows] == ["'" + target]


def test_the_audit_is_verified_searched_and_exported_by_command(stack: Stack, tmp_path: Path) -> None:
    mark = uuid4().hex[:10]
    entry = record(stack, asker="agent", connector=f"c-{mark}", target=f"50%_{mark}", outcome="failed", status="503")
    size = stack.ask("connectors", "audit.checkpoint")["size"]
    until(lambda: arrived(stack, entry), 10)
    until(lambda: bool(stack.rows("console", f"SELECT 1 FROM app.audit_checkpoints WHERE size = {size}")), 10)
    until(lambda: bool(stack.rows("connectors", "SELECT 1 FROM core.witnesses")), 10)
    verified = stack.cli("audit", "verify")
    assert (verified["ok"], verified["first_bad"], verified["reason"], verified["findings"]) == (True, None, "", [])
    assert verified["entries"] >= size and verified["places"]["bridge"]["checkpoints"] > 0
    found = stack.cli("audit", "search", f"50%_{mark}", "--result", "bad")
    assert [each["entry_id"] for each in found["entries"]] == [entry] and found["found"] == 1
    out = tmp_path / "audit.csv"
    stack.run("audit", "export", str(out), f"50%_{mark}", "--connector", f"c-{mark}")
    assert [row["entry_id"] for row in csv.DictReader(io.StringIO(out.read_text()))] == [entry]
    assert [json.loads(line)["entry_id"] for line in stack.run("audit", "export", "-", "--format", "jsonl", "--connector", f"c-{mark}").stdout.splitlines()] == [entry]  # fmt: skip


def test_the_page_says_how_far_the_chain_holds(stack: Stack, moderator: Person, owner: Person) -> None:
    entry = record(stack)
    until(lambda: arrived(stack, entry), 10)
    newest = stack.value("console", f"SELECT seq FROM app.calls WHERE entry_id = '{entry}'")
    until(lambda: stack.value("console", "SELECT seq FROM app.audit_chain") >= newest, 20)
    assert "✓ unbroken, 0 to" in moderator.page("/audit").text
    began = stack.value("console", "SELECT began_at FROM app.audit_chain")
    assert moderator.send("/audit/verify", "/audit").status_code == 303
    until(lambda: stack.value("console", "SELECT NOT recounting FROM app.audit_chain"), 20)
    assert stack.value("console", "SELECT began_at FROM app.audit_chain") > began
    assert "from the beginning in" in moderator.page("/audit").text
    viewer = owner.add("viewer")
    assert viewer.send("/audit/verify", "/me").status_code == 403 and "Verify now" not in viewer.page("/audit").text


def test_many_calls_arrive_once_each(stack: Stack, moderator: Person) -> None:
    connector = f"many-{uuid4().hex[:10]}"
    for _ in range(60):
        record(stack, connector=connector)
    count = f"SELECT count(*) FROM app.calls WHERE connector = '{connector}'"
    until(lambda: stack.value("console", count) == 60, 15)
    shown = moderator.page("/audit", connector=connector).text
    assert "60 found" in shown and "1 to 50 of 60" in shown
    assert "51 to 60 of 60" in moderator.page("/audit", connector=connector, page=2).text
