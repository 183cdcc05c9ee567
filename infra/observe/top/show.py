"""A sample for a terminal, from 80 columns on: the problems, a line for each part, then readers, chains and stores. Unknown is —, never 0."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from infra.cli.options import printable
from infra.local.instances import base_of, is_service
from shared.figures import UNKNOWN, age, bytes_in_words, number, rate, share, short
from shared.settings import FRONTS

BARS = "▁▂▃▄▅▆▇█"
WIDE = 110
NARROW, BROAD = 5, 16
"""Rates in a little chart."""
SHORT = {"starting": "start", "unready": "stuck", "waiting": "waits", "stopping": "stops", "stopped": "stops"}
MOST_PROBLEMS, MOST_LIVE = 8, 3
TONES = {"stop": "bold red", "wait": "yellow"}
Figures = dict[str, Any]


def screen(sample: Figures, width: int, *, live: bool = False) -> RenderableType:
    """Everything of one sample."""
    return Group(
        _head(sample, live=live),
        _problems(sample["problems"], live=live),
        Text(),
        _parts(sample, width),
        Text(),
        *_details(sample),
    )


def _head(sample: Figures, *, live: bool) -> Text:
    up = f", up {age(sample['up_seconds'])}" if sample["up_seconds"] is not None else ""
    return Text.assemble(
        ("Schleuse", "bold"), f" at {sample['taken_at'][11:19]} UTC{up}", (" · q ends" if live else "", "dim")
    )


def _problems(found: Sequence[dict[str, str]], *, live: bool) -> Text:
    """The worst first. While it stays open they have three lines, whatever there is to say, so that nothing below moves."""
    most = MOST_LIVE if live else MOST_PROBLEMS
    lines = [Text("✓ nothing is wrong", style="green")] if not found else []
    shown = found if len(found) <= most else found[: most - 1]
    for each in shown:
        sign = "✗" if each["tone"] == "stop" else "!"
        lines.append(Text(f"{sign} {printable(each['text'])}", style=TONES[each["tone"]], no_wrap=live))
    if len(found) > len(shown):
        lines.append(Text(f"… and {len(found) - len(shown)} more", style=TONES["wait"]))
    lines += [Text()] * (most - len(lines) if live else 0)
    return Text("\n", no_wrap=live, overflow="ellipsis" if live else None).join(lines)


def _parts(sample: Figures, width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    columns = ["part", "pid", "cpu", "mem", "pg", "bus", "in/s", "out/s", "web/s", "lag", "send", "park"]
    for column in columns:
        table.add_column(column, justify="left" if column == "part" else "right", no_wrap=True)
    table.add_column("in and out" if width >= WIDE else "trend", no_wrap=True)
    for name, part in sample["parts"].items():
        table.add_row(*_row(name, part, width))
    return table


def _row(name: str, part: Figures, width: int) -> list[RenderableType]:
    colour = "green" if part["ready"] and not part["red"] else "yellow" if part["ready"] else "bold red"
    memory = part["pss"] if part["pss"] is not None else part["rss"]
    cells = [number(part["pid"]), share(part["cpu"]), bytes_in_words(memory), *_of_service(name, part)]
    return [Text(f"{'✓' if part['ready'] else '✗'} {name}", style=colour), *cells, _trend(part, width)]


def _of_service(name: str, part: Figures) -> list[str]:
    """What a server does not have stays empty; what is not known is a dash."""
    if not is_service(name):
        return [""] * 8
    pg, web = part["postgres"], rate(part["web"]) if base_of(name) in FRONTS else ""
    return [
        f"{pg[0]}/{pg[1]}" if pg else UNKNOWN, number(part["bus"]), rate(part["in"]), rate(part["out"]), web, short(part["lag"]), short(part["unsent"]),
        short(part["parked"]),
    ]  # fmt: skip


def _trend(part: Figures, width: int) -> Text:
    """What it did lately, in a narrow terminal both ways in one; for a part that is not ready, what it is instead."""
    if not part["ready"]:
        state = str(part["state"])
        return Text(state if width >= WIDE else SHORT.get(state, state)[:NARROW], style="bold red")
    ways = list(part["history"].values())
    lines = [way[-BROAD:] for way in ways] if width >= WIDE else [_together(ways)[-NARROW:]]
    known = [rate for line in lines for rate in line if rate is not None]
    return Text(" ".join(spark(line, max(*known, 1.0)) for line in lines) if known else "", style="cyan")


def _together(ways: Sequence[Sequence[float | None]]) -> list[float | None]:
    return [None if None in rates else sum(rate or 0.0 for rate in rates) for rates in zip(*ways, strict=True)]


def spark(rates: Sequence[float | None], top: float) -> str:
    """One character a rate; a gap where it is unknown."""
    return "".join(" " if rate is None else BARS[min(7, int(rate / top * 7.999))] for rate in rates)


def _details(sample: Figures) -> list[RenderableType]:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, said in (
        ("lock", _gate(sample["gate"] or {})),
        ("call audit", _audit(sample["audit"] or {})),
        ("agent", _agent(sample.get("agent"))),
        ("tasks", _tasks(sample.get("tasks"))),
        ("Postgres", _postgres(sample["postgres"])),
        ("bus", _streams(sample["streams"])),
        ("disk", _disk(sample["disk"])),
        ("backup", f"{age(sample['backup_age'])} old" if sample["backup_age"] is not None else "— (none is known)"),
        ("readers", _readers(sample["readers"])),
    ):
        table.add_row(name, escape(said))
    return [table]


def _whole(chain: Figures) -> str:
    return {True: "unbroken", False: "BROKEN", None: "not yet checked"}[chain.get("whole")]


def _gate(gate: Figures) -> str:
    if not gate:
        return "—"
    at = (
        "is empty"
        if gate.get("seq") is None and "whole" in gate
        else f"entry {number(gate.get('seq'))}, {_whole(gate)}"
    )
    at_site = "has none yet" if gate["at_site"] == -1 else f"at {number(gate['at_site'])}"
    return f"log {at}; site {at_site}, {number(gate['behind'])} behind; signed head {age(gate['head_age'])} old"


def _audit(audit: Figures) -> str:
    if not audit:
        return "—"
    if audit["seq"] is None:
        return "empty"
    signed, copied = audit.get("checkpoint"), audit.get("copy")
    more = f"; checkpoint over {number(signed)}" if signed else "; no checkpoint yet"
    more += f"; console at {number(copied)}" if copied is not None else ""
    return f"entry {audit['seq']}, {_whole(audit)}, last {age(audit['age'])} ago{more}"


def _agent(found: Figures | None) -> str:
    """A sample of an older release says nothing of it."""
    if found is None:
        return "—"
    now = f"{number(found['turns_running'])} turns running, {number(found['turns_waiting'])} waiting, {number(found['model_calls_open'])} calls of models open"
    return (
        f"{now}, {number(found['guests_here'])} guests; a cap refused {number(found['cap_refusals'])} since it started"
    )


def _tasks(found: Figures | None) -> str:
    """A sample of an older release says nothing of it."""
    if found is None:
        return "—"
    if found["by"] is None:
        return "nobody fires them"
    late = f", {number(found['late'])} late, the oldest for {age(found['late_s'])}" if found["late"] else ", none late"
    return f"fired by {found['by']} (number {number(found['fence'])}), {number(found['fired'])} since it started{late}"


def _postgres(found: Figures) -> str:
    sizes = found["sizes"]
    size = bytes_in_words(sum(sizes.values())) if sizes else "—"
    return f"{number(found['used'])}/{number(found['limit'])} connections, {size}, oldest transaction {age(found['oldest_transaction'])}"


def _streams(streams: list[Figures] | None) -> str:
    if streams is None:
        return "—"
    held, limit = sum(each["bytes"] for each in streams), sum(each["limit"] or 0 for each in streams)
    fullest = max(streams, key=lambda each: each["bytes"] / max(each["limit"] or 1, 1), default=None)
    worst = f", fullest {fullest['name']} {bytes_in_words(fullest['bytes'])}" if fullest and fullest["bytes"] else ""
    return f"{bytes_in_words(held)} of {bytes_in_words(limit)} in {len(streams)} streams{worst}"


def _disk(disk: Figures) -> str:
    return f"{share(1 - disk['free'] / disk['total'])} used, {bytes_in_words(disk['free'])} free"


def _readers(readers: list[Figures] | None) -> str:
    if readers is None:
        return "—"
    busy = [
        f"{each['durable']} on {each['stream']}: {each['pending']} waiting, {each['in_hand']} in hand, {each['redelivered']} again"
        for each in readers
        if each["pending"] or each["in_hand"] or each["redelivered"]
    ]
    return "; ".join(busy) or f"all {len(readers)} have read everything"
