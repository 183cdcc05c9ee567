"""Work that flows through a cluster while its processes are killed, and how long each decision took to be seen everywhere."""

import http.client
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from infra.local.instances import base_of, parts
from shared.errors import SchleuseError
from tests.factories.documents import Item, submit
from tests.factories.stack import Stack, running_stack, schleuse
from tests.factories.waiting import until

CONNECTIONS = 8
"""New connections that must all show a page: the kernel deals them out to both instances."""
PARTS = parts(cluster=True)
PATIENCE = 60.0


@contextmanager
def running_cluster() -> Iterator[Stack]:
    with running_stack(None, "--cluster", own=True) as stack:
        yield stack


def answer(stack: Stack, path: str) -> int:
    """The status that a new connection gets; 0 when it gets none."""
    host, port = urlsplit(stack.urls["site"]).netloc.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def everywhere(stack: Stack, path: str, wanted: int = 200) -> bool:
    """Whether both instances of the site answer with that status."""
    return all(answer(stack, path) == wanted for _ in range(CONNECTIONS))


@dataclass
class Flow:
    """Approves one item after another, and loads views, until it is told to stop. `seen`: (time of the decision, seconds until it was seen everywhere)."""

    stack: Stack
    folder: Path
    pause: float = 0.1
    mark: str = field(default_factory=lambda: uuid4().hex[:8])
    items: list[Item] = field(default_factory=list)
    seen: list[tuple[float, float]] = field(default_factory=list)
    lines: int = 0
    faults: list[BaseException] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def decide(self) -> None:
        while not self._stop.is_set():
            self._one()
            self._stop.wait(self.pause)

    def _one(self) -> None:
        name = f"c{self.mark}-{len(self.items)}"
        self.items.append(until(lambda: self._submitted(name), PATIENCE, f"{name} is handed in", 0.05))
        began = time.monotonic()
        with ThreadPoolExecutor(1) as apart:
            decided = apart.submit(until, lambda: self._decided(self.items[-1]), PATIENCE, f"{name} is decided", 0.02)
            until(lambda: everywhere(self.stack, self.items[-1].url), PATIENCE, f"{name} is seen everywhere", 0.02)
            self.seen.append((began, time.monotonic() - began))
            decided.result()

    def _submitted(self, name: str) -> Item | None:
        """The same again changes nothing, so an answer that was lost is asked for again."""
        try:
            return submit(self.stack, f"# {name}\n\nWords of {name}.\n", name=name)
        except (SchleuseError, OSError, AssertionError):
            return None

    def _decided(self, item: Item) -> bool:
        try:
            found = self.stack.ask("console", "items.decide", items=[item.item_id], verdict="approve")
        except (SchleuseError, OSError):
            return False
        return found["decided"] == 1 or any(each["code"] in ("decided", "conflict") for each in found["refused"])

    def load(self) -> None:
        """Views through the site's door for logs, a few hundred at a time."""
        chance, number = random.Random(self.mark), 0
        while not self._stop.is_set():
            log = self.folder / f"{self.mark}-{number}.log"
            line = '198.18.{}.{} - - [17/May/2026:10:{:02}:{:02} +0000] "GET /kill/{}/{} HTTP/1.1" 200 1 "-" "{}"\n'
            made = [
                line.format(n % 250, n % 199, n // 60, n % 60, self.mark, chance.randrange(5), number)
                for n in range(300)
            ]
            log.write_text("".join(made))
            schleuse("signals", "load", str(log), "--state", str(self.stack.state), "--json")
            self.lines, number = self.lines + len(made), number + 1

    def views(self) -> int:
        wanted = (
            f"SELECT coalesce(sum(n), 0)::int AS n FROM app.signal_counts WHERE item_key LIKE '/kill/{self.mark}/%'"
        )
        return int(self.stack.value("console", wanted))

    def slowest(self, since: float, until_: float) -> float:
        """The longest that a decision took which was on its way at some time between the two."""
        return max((took for began, took in self.seen if began < until_ and began + took > since), default=0.0)


@contextmanager
def flowing(stack: Stack, folder: Path) -> Iterator[Flow]:
    """Both flows in threads of their own; at the end they finish what they have begun."""
    flow = Flow(stack, folder)

    def guarded(work: "object") -> None:
        try:
            work()  # type: ignore[operator]
        except BaseException as fault:
            flow.faults.append(fault)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (flow.load, flow.decide)]
    for thread in threads:
        thread.start()
    try:
        until(lambda: flow.seen or flow.faults, PATIENCE, "decisions flow")
        yield flow
    finally:
        flow._stop.set()
        for thread in threads:
            thread.join(200)
    assert not flow.faults, flow.faults


def kinds() -> list[str]:
    """One name for each kind of process."""
    return sorted({base_of(part) for part in PARTS})
