"""The instance that fires tasks is frozen past its lease and comes back: the other one fires them, each once (rule 9)."""

import os
import signal
import time
from typing import Any

import pytest

from tests.factories.people import become_owner
from tests.factories.stack import Stack
from tests.factories.talking import Talk
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.long, pytest.mark.timeout(600)]
REMINDERS = 20
TAKEOVER = 20.0
LEASE = "SELECT part, fence FROM core.task_lease WHERE holder <> '' AND expires_at > clock_timestamp()"


def rows(stack: Stack, statement: str) -> list[Any]:
    answer = stack.ask_database("pgadm", "agent_db", statement)
    assert isinstance(answer, list), answer
    return answer


def holder(stack: Stack) -> tuple[str, int]:
    until(lambda: rows(stack, LEASE), 60, "somebody fires tasks")
    [found] = rows(stack, LEASE)
    return found["part"], found["fence"]


def test_reminders_come_once_when_their_instance_is_frozen(cluster: Stack) -> None:
    ada = Talk.of(cluster, become_owner(cluster).handle)
    made = [ada.post("/tasks", when="in 1 minute", text=f"number {each}")["task_id"] for each in range(REMINDERS)]
    part, fence = holder(cluster)
    pid = cluster.pids()[part]
    os.kill(pid, signal.SIGSTOP)
    try:
        stopped = time.monotonic()
        until(lambda: holder(cluster)[0] != part, 60, "the other instance has taken over")
        assert time.monotonic() - stopped < TAKEOVER
        listed = ", ".join(f"'{each}'" for each in made)
        told = f"SELECT task_id::text AS task FROM core.notifications WHERE task_id::text IN ({listed})"
        until(lambda: len(rows(cluster, told)) >= REMINDERS, 120, "all reminders came")
    finally:
        os.kill(pid, signal.SIGCONT)
    time.sleep(5)  # that long the returned one has to do harm
    assert sorted(row["task"] for row in rows(cluster, told)) == sorted(made)
    assert holder(cluster) == (rows(cluster, LEASE)[0]["part"], fence + 1)
    until(cluster.green, 60, "everything is healthy")
