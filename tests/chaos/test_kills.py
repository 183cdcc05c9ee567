"""Every process is killed while decisions and signals flow: nothing lost, nothing twice, in order per key, healthy afterwards."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from shared.operator import call
from tests.factories import chains
from tests.factories.documents import Item
from tests.factories.stack import PARTS, Stack, schleuse
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]
ITEMS = 12
LINES = 3000


class Flow:
    """Signals by the access log's door and decisions by the command, in threads of their own, until both are done."""

    def __init__(self, stack: Stack, folder: Path, seed: int) -> None:
        self.stack, self.mark = stack, uuid4().hex[:8]
        self.folder = folder / f"docs-{self.mark}"
        self.log = folder / f"log-{self.mark}.log"
        self.items: list[Item] = []
        self.loaded: list[str] = []
        self._write(random.Random(seed))

    def _write(self, chance: random.Random) -> None:
        self.folder.mkdir()
        for number in range(ITEMS):
            (self.folder / f"k{self.mark}-{number}.md").write_text(f"# Kill {self.mark} {number}\n\n{self.mark}\n")
        line = '198.18.{}.{} - - [17/May/2026:10:{:02}:{:02} +0000] "GET /kill/{}/{} HTTP/1.1" 200 1 "-" "x"\n'
        views = (
            line.format(n % 250, n % 199, n // 60 % 60, n % 60, self.mark, chance.randrange(5)) for n in range(LINES)
        )
        self.log.write_text("".join(views))

    def submit(self) -> None:
        found = self.stack.cli("publish", str(self.folder), "--kind", "page", "--lang", "en")
        self.items = [Item(each["item_id"], "page", "en", each["path"]) for each in found["items"]]
        assert len(self.items) == ITEMS

    def load(self) -> None:
        done = schleuse("signals", "load", str(self.log), "--state", str(self.stack.state), "--json")
        self.loaded.append(done.stdout or done.stderr)

    def decide(self) -> None:
        """Approve each; an answer that is lost with its process is asked for again."""
        for item in self.items:
            until(lambda item=item: self._decided(item), 90, f"{item.path} is decided", 0.2)

    def _decided(self, item: Item) -> bool:
        done = self.stack.run("items", "decide", item.item_id, "--verdict", "approve", "--json", timeout=200)
        return '"decided": 1' in done.stdout or "published" in done.stdout or "decided this revision" in done.stdout

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
    parked = len(stack.cli("parked", "list")["parked"])
    with flowing(stack, folder, seed) as flow:
        wanted = chance.randrange(1, ITEMS)
        until(lambda: len(live(stack, flow)) >= min(wanted, 3), 60, "decisions flow", 0.05)
        old = stack.kill(part)
        stack.back(part, old, 60)
    until(lambda: flow.views() == LINES, 60, "every view is counted, none twice", 0.2)
    until(lambda: len(live(stack, flow)) == ITEMS, 60, "every item is live", 0.2)
    check_gate(stack, flow)
    check_events(stack, before)
    assert len(stack.cli("parked", "list")["parked"]) == parked, "nothing was parked"
    until(stack.green, 40, "everything is healthy", 0.3)


def live(stack: Stack, flow: Flow) -> set[str]:
    wanted = {item.item_id for item in flow.items}
    return wanted & {row["item_id"] for row in chains.site_log(stack)}


def check_gate(stack: Stack, flow: Flow) -> None:
    """The site's copy of the gate's log is the gate's, without gaps, and each item entered it once."""
    ours, theirs = chains.gate_log(stack), chains.site_log(stack)
    assert ours == theirs
    assert [row["seq"] for row in ours] == list(range(len(ours)))
    for item in flow.items:
        assert sum(row["item_id"] == item.item_id for row in ours) == 1
    assert call(stack.state, "bridge", "gate.verify")["ok"]
    states = stack.rows("console", "SELECT item_id::text AS item_id, state FROM app.items")
    by_id = {row["item_id"]: row["state"] for row in states}
    until(
        lambda: all(by_id.get(item.item_id) == "published" for item in flow.items) or not by_id.update(again(stack)), 20
    )


def again(stack: Stack) -> dict[str, str]:
    rows = stack.rows("console", "SELECT item_id::text AS item_id, state FROM app.items")
    return {row["item_id"]: row["state"] for row in rows}


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


@pytest.mark.parametrize("round_", range(2))
@pytest.mark.parametrize("part", PARTS)
def test_a_killed_process_loses_nothing(stack: Stack, tmp_path: Path, part: str, round_: int) -> None:
    kill_and_check(stack, part, tmp_path, seed=100 * PARTS.index(part) + round_)


@pytest.mark.long
@pytest.mark.parametrize("round_", range(2, 20))
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
