"""Every process is killed while decisions and signals flow: nothing lost, nothing twice, in order per key, healthy afterwards."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from shared.errors import SchleuseError
from tests.factories import chains
from tests.factories.documents import Item, submit
from tests.factories.stack import PARTS, Stack, schleuse
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]
ITEMS = 8
LINES = 1500


class Flow:
    """Signals by the access log's door and decisions by the command, in threads of their own, until both are done."""

    def __init__(self, stack: Stack, folder: Path, seed: int) -> None:
        self.stack, self.mark = stack, uuid4().hex[:8]
        self.log = folder / f"log-{self.mark}.log"
        self.items: list[Item] = []
        self.loaded: list[str] = []
        self._write(random.Random(seed))

    def _write(self, chance: random.Random) -> None:
        line = '198.18.{}.{} - - [17/May/2026:10:{:02}:{:02} +0000] "GET /kill/{}/{} HTTP/1.1" 200 1 "-" "x"\n'
        views = (
            line.format(n % 250, n % 199, n // 60 % 60, n % 60, self.mark, chance.randrange(5)) for n in range(LINES)
        )
        self.log.write_text("".join(views))

    def submit(self) -> None:
        self.items = [
            submit(self.stack, f"# Kill {self.mark} {n}\n\n{self.mark}\n", name=f"k{self.mark}-{n}")
            for n in range(ITEMS)
        ]

    def load(self) -> None:
        done = schleuse("signals", "load", str(self.log), "--state", str(self.stack.state), "--json")
        self.loaded.append(done.stdout or done.stderr)

    def decide(self) -> None:
        """Approve each; an answer that is lost with its process is asked for again."""
        for item in self.items:
            until(lambda item=item: self._decided(item), 90, f"{item.path} is decided", 0.2)

    def _decided(self, item: Item) -> bool:
        try:
            found = self.stack.ask("console", "items.decide", items=[item.item_id], verdict="approve")
        except (SchleuseError, OSError):
            return False
        return found["decided"] == 1 or any(each["code"] == "decided" for each in found["refused"])

    def views(self) -> int:
        pattern = f"/kill/{self.mark}/%"
        return int(
            self.stack.value(
                "console",
                f"SELECT coalesce(sum(n), 0)::int AS n FROM app.signal_counts WHERE item_key LIKE '{pattern}'",
            )
        )


@contextmanager
def flowing(stack: Stack, folder: Path, seed: int) -> Iterator[Flow]:
    """Starts both threads; at the end waits until they are done."""
    flow = Flow(stack, folder, seed)
    flow.submit()
    faults: list[BaseException] = []

    def guarded(work: object) -> None:
        try:
            work()  # type: ignore[operator]
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (flow.load, flow.decide)]
    for thread in threads:
        thread.start()
    try:
        yield flow
    finally:
        for thread in threads:
            thread.join(200)
    assert not faults, faults
    assert not any(thread.is_alive() for thread in threads)


def kill_and_check(stack: Stack, part: str, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    before = {service: chains.position(stack, service) for service in ("site", "bridge", "console")}
    parked = len(stack.parked())
    with flowing(stack, folder, seed) as flow:
        wanted = chance.randrange(0, 4)
        until(lambda: len(live(stack, flow)) >= wanted, 60, "decisions flow")
        others = {name: pid for name, pid in stack.pids().items() if name != part}
        stack.back(part, stack.kill(part), 60)
        assert {name: pid for name, pid in stack.pids().items() if name != part} == others, (
            "no other process went down with it"
        )
    until(lambda: flow.views() == LINES, 60, "every view is counted, none twice", 0.2)
    until(lambda: len(live(stack, flow)) == ITEMS, 60, "every item is live", 0.2)
    check_gate(stack, flow)
    check_events(stack, before)
    assert len(stack.parked()) == parked, "nothing was parked"
    stack.becomes_green(40)


def live(stack: Stack, flow: Flow) -> set[str]:
    wanted = {item.item_id for item in flow.items}
    return wanted & {row["item_id"] for row in chains.site_log(stack)}


def check_gate(stack: Stack, flow: Flow) -> None:
    """The site's copy of the gate's log is the gate's, without gaps, and each item entered it once."""
    until(lambda: chains.gate_log(stack) == chains.site_log(stack), 20, "both logs are the same", 0.2)
    ours = chains.gate_log(stack)
    assert [row["seq"] for row in ours] == list(range(len(ours)))
    for item in flow.items:
        assert sum(row["item_id"] == item.item_id for row in ours) == 1
    assert stack.ask("bridge", "gate.verify")["ok"]
    wanted = {item.item_id for item in flow.items}
    until(
        lambda: wanted <= {row["item_id"] for row in stack.items() if row["state"] == "published"},
        20,
        "all are published",
        0.2,
    )
    # what a killed reader had fetched comes again after the others
    until(lambda: not _gaps(stack, wanted), 60, "no step of a history is missing", 0.2)


def _gaps(stack: Stack, wanted: set[str]) -> list[list[int]]:
    histories = stack.rows(
        "console",
        "SELECT item_id::text AS item_id, array_agg(version ORDER BY version) AS v FROM app.item_history GROUP BY 1",
    )
    found = [row["v"] for row in histories if row["item_id"] in wanted]
    return [each for each in found if each != list(range(each[0], each[0] + len(each)))]


def check_events(stack: Stack, before: dict[str, int]) -> None:
    """Everything staged was handled where it was for, exactly once."""
    until(stack.is_drained, 30, "all outboxes are empty", 0.2)
    for sender, name, reader in (
        ("site", "signals.recorded", "console"),
        ("site", "item.applied", "console"),
        ("console", "item.decided", "bridge"),
        ("bridge", "item.published", "site"),
        ("bridge", "item.moved", "console"),
    ):
        sent = chains.staged(stack, sender, name, before[sender])
        assert sent, name
        until(lambda: sent <= set(chains.handled(stack, reader, name)), 30, f"{reader} handled every {name}", 0.3)  # noqa: B023


@pytest.mark.parametrize("part", PARTS)
def test_a_killed_process_loses_nothing(stack: Stack, tmp_path: Path, part: str) -> None:
    kill_and_check(stack, part, tmp_path, seed=100 * PARTS.index(part))


@pytest.mark.long
@pytest.mark.parametrize("round_", range(1, 21))
@pytest.mark.parametrize("part", PARTS)
def test_a_process_killed_again_and_again_loses_nothing(stack: Stack, tmp_path: Path, part: str, round_: int) -> None:
    kill_and_check(stack, part, tmp_path, seed=100 * PARTS.index(part) + round_)


@pytest.mark.long
def test_everything_killed_at_once_loses_nothing(stack: Stack, tmp_path: Path) -> None:
    with flowing(stack, tmp_path, 7) as flow:
        until(lambda: len(live(stack, flow)) >= 2, 60, "decisions flow", 0.05)
        old = {part: stack.kill(part) for part in PARTS}
        for part, pid in old.items():
            stack.back(part, pid, 90)
    until(lambda: flow.views() == LINES, 60, "every view is counted", 0.2)
    until(lambda: len(live(stack, flow)) == ITEMS, 60, "every item is live", 0.2)
    check_gate(stack, flow)
