"""Every figure of the page System as it stands there: text and tone by a name, so that the page and its later news say the same."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from services.console.system.domain import STALE_FIGURES, Report
from shared.figures import UNKNOWN, age, bytes_in_words, number, rate, share
from shared.settings import FRONTS

WIDTH, HEIGHT = 120, 20
"""Of a little chart, in its own units."""
MOST = 60
FULL = 0.8
SERVERS = ("postgres", "nats")
COLUMNS = ("pid", "cpu", "memory", "postgres", "bus", "in", "out", "web", "lag", "unsent", "oldest", "parked")
Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """`tone`: live, wait, stop or none. `points` are a chart's path data."""

    text: str
    tone: str = ""
    points: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)


def cells(report: Report) -> dict[str, Cell]:
    """By name: `verdict`, `taken`, `part.<name>.<column>`, `reader.<stream>.<durable>.<figure>`, `lock.…`, `store.…`. Empty without a report."""
    found = report.content
    if found is None:
        return {}
    made = {"verdict": verdict(report), "taken": Cell(f"{age(report.age)} ago")}
    for name, part in found["parts"].items():
        made |= {f"part.{name}.{column}": cell for column, cell in _part(name, part).items()}
    for each in found["readers"] or []:
        for figure in ("pending", "in_hand", "redelivered"):
            made[f"reader.{each['stream']}.{each['durable']}.{figure}"] = Cell(
                number(each[figure]), "wait" if each[figure] > 20 else ""
            )
    return made | _lock(found["gate"] or {}, found["audit"] or {}) | _stores(found)


@dataclass(frozen=True)
class Glance:
    """One part: how it is in a word, and what is wrong or waits there."""

    name: str
    tone: str
    word: str
    told: Sequence[str]


def glance(report: Report) -> list[Glance]:
    """Every part in its order; what a report of long ago says of now is unknown. Empty without a report."""
    if report.content is None:
        return []
    stale = report.is_stale(STALE_FIGURES)
    return [_glance(name, part, stale=stale) for name, part in report.content["parts"].items()]


def _glance(name: str, part: Figures, *, stale: bool) -> Glance:
    told = [*part["red"], *(f"{part[each]} {each}" for each in ("unsent", "parked") if part[each])]
    if stale:
        return Glance(name, "stop", "unknown", told)
    well = part["ready"] and not part["red"]
    return Glance(name, "live" if well and not part["parked"] else "wait" if part["ready"] else "stop", "well" if well else "not well" if part["ready"] else part["state"], told)  # fmt: skip


def verdict(report: Report) -> Cell:
    """Unknown is not well."""
    if report.content is None:
        return Cell("unknown", "stop")
    if report.is_stale(STALE_FIGURES):
        return Cell(f"unknown since {age(report.age)}", "stop")
    problems: Sequence[Figures] = report.content["problems"]
    if not problems:
        return Cell("all well", "live")
    return Cell(
        "1 problem" if len(problems) == 1 else f"{len(problems)} problems",
        "stop" if any(each["tone"] == "stop" for each in problems) else "wait",
    )


def _part(name: str, part: Figures) -> dict[str, Cell]:
    pg, memory = part["postgres"], part["pss"] if part["pss"] is not None else part["rss"]
    quiet = "" if name.partition("-")[0] in SERVERS else UNKNOWN
    made = {
        "state": Cell(part["state"], "live" if part["ready"] and not part["red"] else "wait" if part["ready"] else "stop"),
        "pid": Cell(number(part["pid"])),
        "restarts": Cell(number(part["restarts"]), "wait" if part["restarts"] else ""),
        "cpu": Cell(share(part["cpu"])),
        "memory": Cell(bytes_in_words(memory)),
        "postgres": Cell(f"{pg[0]}/{pg[1]}" if pg else quiet, "wait" if pg and pg[1] and pg[0] >= FULL * pg[1] else ""),
        "bus": Cell(number(part["bus"]) if part["bus"] is not None else quiet),
        **{way: Cell(rate(part[way]) if part[way] is not None else quiet) for way in ("in", "out")},
        "web": Cell(rate(part["web"]) if part["web"] is not None else quiet if name.partition("-")[0] in FRONTS else ""),
        "lag": Cell(number(part["lag"]) if part["lag"] is not None else quiet, "wait" if (part["lag"] or 0) > 20 else ""),
        "unsent": Cell(number(part["unsent"]) if part["unsent"] is not None else quiet),
        "oldest": Cell(age(part["oldest"]) if part["unsent"] else quiet if part["unsent"] is None else "", "wait" if (part["oldest"] or 0) > 5 else ""),
        "parked": Cell(number(part["parked"]) if part["parked"] is not None else quiet, "wait" if part["parked"] else ""),
    }  # fmt: skip
    return made | {f"{way}_trend": Cell("", points=_points(part["history"], way)) for way in ("in", "out")}


def _points(history: Figures, way: str) -> str:
    """A line over the last minutes as SVG path data, both ways to one scale, with a gap where a rate is unknown."""
    known = [each for rates in history.values() for each in rates if each is not None]
    top = max([*known, 1.0])
    rates = history[way][-MOST:]
    step, first = WIDTH / (MOST - 1), MOST - len(rates)
    drawn, pen = [], "M"
    for at, each in enumerate(rates):
        if each is None:
            pen = "M"
            continue
        drawn.append(f"{pen}{(first + at) * step:.1f} {HEIGHT - 1 - (HEIGHT - 2) * each / top:.1f}")
        pen = "L"
    return "".join(drawn)


def _whole(chain: Figures) -> Cell:
    words = {True: Cell("unbroken", "live"), False: Cell("broken", "stop")}
    return words.get(chain.get("whole"), Cell(UNKNOWN))  # type: ignore[arg-type]


def _lock(gate: Figures, audit: Figures) -> dict[str, Cell]:
    head, behind = gate.get("head_age"), gate.get("behind")
    return {
        "lock.seq": Cell(_seq(gate)),
        "lock.whole": _whole(gate),
        "lock.site": Cell(UNKNOWN if gate.get("at_site") is None else "nothing yet" if gate["at_site"] < 0 else number(gate["at_site"])),
        "lock.behind": Cell(number(behind), "stop" if behind else ""),
        "lock.head": Cell(age(head), "wait" if (head or 0) > 7200 else ""),
        "audit.seq": Cell(_seq(audit)),
        "audit.whole": _whole(audit),
        "audit.age": Cell(age(audit.get("age"))),
    }  # fmt: skip


def _seq(chain: Figures) -> str:
    if "seq" not in chain:
        return UNKNOWN
    return "empty" if chain["seq"] is None else number(chain["seq"])


def _stores(found: Figures) -> dict[str, Cell]:
    postgres, streams, disk = found["postgres"], found["streams"], found["disk"]
    used = 1 - disk["free"] / disk["total"]
    sizes = postgres["sizes"]
    held = None if streams is None else sum(each["bytes"] for each in streams)
    limit = None if streams is None else sum(each["limit"] or 0 for each in streams)
    old = postgres["oldest_transaction"]
    return {
        "store.connections": Cell(f"{number(postgres['used'])} of {number(postgres['limit'])}", "wait" if (postgres["used"] or 0) >= FULL * (postgres["limit"] or 1) else ""),
        "store.size": Cell(bytes_in_words(sum(sizes.values()) if sizes else None)),
        "store.transaction": Cell(age(old), "wait" if (old or 0) > 300 else ""),
        "store.streams": Cell(f"{bytes_in_words(held)} of {bytes_in_words(limit)}"),
        "store.disk": Cell(f"{share(used)} used, {bytes_in_words(disk['free'])} free", "wait" if used >= 0.9 else ""),
        "store.backup": Cell(f"{age(found['backup_age'])} old" if found["backup_age"] is not None else UNKNOWN),
    }  # fmt: skip
