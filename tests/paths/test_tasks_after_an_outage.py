"""A reminder whose time came while nothing ran: it is there as soon as the system is, with its own time; nobody has to come back for it (SC-07)."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.clock import now
from tests.factories.people import become_owner
from tests.factories.stack import Stack, running_stack
from tests.factories.talking import Talk
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.long, pytest.mark.timeout(600)]


def told(stack: Stack, task: str) -> list[Any]:
    asked = f"SELECT title, due_at::text AS due_at FROM core.notifications WHERE task_id = '{task}'"
    answer = stack.ask_database("pgadm", "agent_db", asked)
    assert isinstance(answer, list), answer
    return answer


def test_sc_07_a_reminder_of_the_time_when_nothing_ran() -> None:
    with running_stack(own=True) as stack:
        ada = Talk.of(stack, become_owner(stack).handle)
        task = ada.post("/tasks", when="in 1 minute", text="water the plants")
        due = datetime.fromisoformat(task["next_at"])
        stack.close()
        assert stack.run("down").returncode == 0
        until(lambda: now() > due + timedelta(seconds=65), 180, "its time is more than a minute ago")
        stack.up()
        until(lambda: told(stack, task["task_id"]), 60, "it was told")
        [row] = told(stack, task["task_id"])
        assert abs(datetime.fromisoformat(row["due_at"]) - due) < timedelta(seconds=1)
        [late] = ada.get("/tasks/missed")
        assert late["task_id"] == task["task_id"] and "late" in late["reason"]
