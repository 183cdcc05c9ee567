"""A cluster loses processes of every kind while decisions and signals flow: nothing lost, nothing twice, seen everywhere."""

import json
import os
import random
import signal
import time
from pathlib import Path
from statistics import median

import pytest

from infra.local.instances import base_of
from tests.chaos.test_kills import check_events
from tests.factories import chains
from tests.factories.cluster import PARTS, Flow, everywhere, flowing
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
ROUNDS = 50
CALM = 4.0
"""Seconds between two kills: time to see that decisions flow again."""


def kill(stack: Stack, part: str, flow: Flow) -> float:
    """kill -9; back when it runs again and all is ready. Seconds that the slowest decision on its way took."""
    began = time.monotonic()
    stack.back(part, stack.kill(part), 60)
    until(lambda: flow.faults or any(at > began + 0.5 for at, _ in flow.seen), 60, "decisions flow again", 0.05)
    return flow.slowest(began, began + 3.0)


def check(stack: Stack, flow: Flow, before: dict[str, int]) -> None:
    """Exact counts: every item is public once, at both instances; the gate's log has no gap; every view is counted once."""
    until(lambda: flow.views() == flow.lines, 60, f"{flow.lines} views are counted, none twice", 0.2)
    until(lambda: chains.gate_log(stack) == chains.site_log(stack), 20, "both logs are the same", 0.2)
    log = chains.gate_log(stack)
    assert [row["seq"] for row in log] == list(range(len(log)))
    for item in flow.items:
        assert sum(row["item_id"] == item.item_id for row in log) == 1, item.path
        assert everywhere(stack, item.url), item.path
    assert stack.ask("bridge", "gate.verify")["ok"]
    check_events(stack, before)
    assert stack.parked() == []
    until(stack.green, 40, "everything is healthy", 0.3)


def positions(stack: Stack) -> dict[str, int]:
    return {service: chains.position(stack, service) for service in ("site", "bridge", "console")}


def test_a_cluster_loses_a_process_of_three_kinds(cluster: Stack, tmp_path: Path) -> None:
    before = positions(cluster)
    with flowing(cluster, tmp_path) as flow:
        for part in (leader_of(cluster, "FROM_CONSOLE"), "bridge", "site-2"):
            assert kill(cluster, part, flow) < 5, part
    check(cluster, flow, before)


@pytest.mark.long
def test_fifty_kills_over_all_kinds_lose_nothing(cluster: Stack, tmp_path: Path) -> None:
    chance, before = random.Random(5), positions(cluster)
    took: dict[str, list[float]] = {}
    with flowing(cluster, tmp_path) as flow:
        for part in chance.sample(PARTS * (ROUNDS // len(PARTS) + 1), ROUNDS):
            took.setdefault(base_of(part), []).append(kill(cluster, part, flow))
            time.sleep(CALM * chance.random() / 2)
    report = {kind: [round(min(each), 2), round(median(each), 2), round(max(each), 2)] for kind, each in took.items()}
    all_ = sorted(each for _, each in flow.seen)
    print(f"\nslowest decision at a kill, by kind (best, median, worst): {json.dumps(report)}")
    print(f"{len(all_)} decisions: median {median(all_):.2f} s, 99th {all_[int(len(all_) * 0.99)]:.2f} s")
    check(cluster, flow, before)


@pytest.mark.long
def test_a_relay_that_hangs_and_comes_back_loses_nothing(cluster: Stack, tmp_path: Path) -> None:
    before = positions(cluster)
    holder = next(part for part in ("bridge", "bridge-2") if relays(cluster, part))
    with flowing(cluster, tmp_path) as flow:
        pid = cluster.pids()[holder]
        os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            until(lambda: any(at > began for at, _ in flow.seen), 30, "the other instance relays", 0.05)
        finally:
            os.kill(pid, signal.SIGCONT)
        resumed = time.monotonic()
        until(lambda: sum(at > resumed for at, _ in flow.seen) > 3, 30, "decisions flow on", 0.05)
    check(cluster, flow, before)


def relays(stack: Stack, part: str) -> bool:
    detail = stack.parts()[part]["conditions"]["relay"]["detail"]
    return bool(detail == "relaying")


def leader_of(stack: Stack, stream: str) -> str:
    return str(stack.status()["bus"]["streams"][stream]["leader"])
