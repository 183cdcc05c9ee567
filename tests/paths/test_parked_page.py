"""Events that the console could not handle, on its page: listed with the reason, replayed, dropped."""

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.factories import events
from tests.factories.bus import publish
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


def parked_at_console(stack: Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stack.ask("console", "parked.list")["parked"]
    return found


def fresh(stack: Stack, before: set[int]) -> dict[str, Any]:
    rows = until(lambda: [row for row in parked_at_console(stack) if row["id"] not in before], 15, "parked")
    assert len(rows) == 1
    return rows[0]


def forge(stack: Stack) -> dict[str, Any]:
    """An event with no signature of the lock: the console parks it and reads nothing of it."""
    before = {row["id"] for row in parked_at_console(stack)}
    path = f"/poison/{uuid4().hex}<b>bold</b>"
    publish(stack, "bridge", "to.console.signals.recorded", events.raw(events.views(1, path)))
    return fresh(stack, before)


def test_a_poison_event_is_listed_and_dropped_by_form(stack: Stack, owner: Person, moderator: Person) -> None:
    row = forge(stack)
    place = f"/parked/{row['id']}"
    assert f'href="{place}"' in moderator.page("/parked").text
    shown = owner.page(place).text
    assert row["reason"].split(":")[0][:20] in shown and "&lt;b&gt;bold" in shown and "<b>bold" not in shown
    assert "Replay" not in moderator.page(place).text, "a moderator reads"
    assert moderator.send(f"{place}/drop", "/me").status_code == 403
    replayed = owner.send(f"{place}/replay", place)
    assert (replayed.status_code, "it still cannot be read" in replayed.text) == (422, True)
    assert owner.send(f"{place}/drop", place).status_code == 303
    assert f'href="{place}"' not in owner.page("/parked").text
    assert "dropped" in owner.page(place).text
    assert owner.send(f"{place}/drop", "/me").status_code == 404, "only once"


def test_an_event_whose_cause_is_gone_is_replayed_by_form(stack: Stack, owner: Person) -> None:
    """A genuine event that was parked (as after many failed tries) has its effect when it is replayed."""
    path = f"/replayed/{uuid4().hex}"
    publish(stack, "site", "from.site.signals.recorded", events.raw(event := events.views(3, path)))
    count = f"SELECT coalesce(sum(n), 0)::int FROM app.signal_counts WHERE item_key = '{path}'"
    until(lambda: stack.value("console", count) == 3, 15)
    number = park(stack, event["id"], path)
    place = f"/parked/{number}"
    assert path in owner.page(place).text
    assert owner.send(f"{place}/replay", place).status_code == 303
    assert stack.value("console", count) == 3
    assert "replayed" in owner.page(place).text
    number = park(stack, event["id"], path)
    assert stack.cli("parked", "replay", f"console:{number}")["replayed"] == number
    assert stack.value("console", count) == 3, "by command, the same"


def park(stack: Stack, event_id: str, path: str) -> int:
    """As if the console had given up on the event: no effect yet, and parked with what the lock really sent."""
    stack.rows("console", f"DELETE FROM app.signal_counts WHERE item_key = '{path}' RETURNING 1")
    query = f"SELECT encode(body, 'hex') AS body, headers::text AS headers FROM app.outbox WHERE event_id = '{event_id}' AND subject LIKE 'to.console.%'"
    [sent] = stack.rows("bridge", query)
    headers = json.dumps(json.loads(sent["headers"])).replace("'", "''")
    text = (
        "INSERT INTO app.parked (event_id, name, subject, headers, body, reason, attempts)"
        f" VALUES ('{event_id}', 'signals.recorded', 'to.console.signals.recorded', '{headers}', '\\x{sent['body']}', 'made by a test', 8) RETURNING id"
    )
    return int(stack.rows("console", text)[0]["id"])
