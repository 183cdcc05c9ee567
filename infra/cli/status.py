"""`schleuse status`: what runs, how far behind each reader is, what waits, what is parked."""

from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from infra.cli.options import DEFAULT_STATE, FAILED, NOT_RUNNING, OK, Json, State, complain, print_json
from infra.local.report import report
from infra.observe.top.tasks import task_loop


def register(app: typer.Typer) -> None:
    app.command()(status)


def status(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Show what runs. Exit code 0 when everything is ready, 1 when something is not, 3 when nothing runs."""
    found = report(state)
    if as_json:
        print_json(found)
    elif found["running"]:
        _show(found)
    else:
        complain(f"nothing is running in {state}; start it with `schleuse up`")
    raise typer.Exit(OK if found["ready"] else FAILED if found["running"] else NOT_RUNNING)


COLUMNS = {
    "reader_lag": "to read",
    "unsent_events": "to send",
    "oldest_unsent_seconds": "oldest",
    "parked_events": "parked",
}


def _show(found: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("part", "state", "process", "restarts", *COLUMNS.values(), ""):
        table.add_column(column, justify="right" if column in COLUMNS.values() else "left")
    for name, part in (found["servers"] | found["services"]).items():
        colour = "green" if part["ready"] else "yellow"
        figures = [_figure(part, key) for key in COLUMNS]
        table.add_row(
            name,
            f"[{colour}]{part['state']}[/]",
            str(part["pid"] or "–"),
            "–" if part["restarts"] is None else str(part["restarts"]),
            *figures,
            escape(_red(part)),
        )
    out = Console(highlight=False, soft_wrap=True)
    out.print(table)
    for name, each in found.get("bus", {}).get("streams", {}).items():
        out.print(f"{name:<16} led by {each['leader'] or 'unknown'}, {_level(each)}")
    for name, url in found["urls"].items():
        out.print(f"{name:<10} {escape(url)}")
    if audit := _audit(found["services"]):
        out.print(f"call audit {audit}")
    if outward := _outward(found["services"]):
        out.print(f"connectors {outward}")
    if talking := _talking(found["services"]):
        out.print(f"agent      {talking}")
    if looping := _looping(found["services"]):
        out.print(f"tasks      {looping}")
    for each in found.get("backups", []):
        out.print(f"backup     {escape(each['directory'])}: {_followed(each)}")
    out.print(
        f"OS users separated: {_yes(found['os_separation'])}; egress separated: {_yes(found['egress_separation'])}{_why(found)}"
    )


def _audit(services: dict[str, Any]) -> str:
    """How far the console has recomputed it, and what was signed; what is wrong with it stands beside the part that says so."""
    said = [part.get("figures", {}) for part in services.values()]
    copied = max((each["audit_copy"] for each in said if "audit_copy" in each), default=None)
    signed = max((each["audit_checkpoint"] for each in said if "audit_checkpoint" in each), default=None)
    if copied is None or signed is None:
        return ""
    return f"{copied + 1:,} entries recomputed at the console; " + (
        f"checkpoint over {signed:,}" if signed else "no checkpoint yet"
    )


def _outward(services: dict[str, Any]) -> str:
    """How many connectors are on, and whether the other sides answer; nothing where none is."""
    said = [part.get("figures", {}) for part in services.values()]
    on = max((each.get("connectors_on", 0) for each in said), default=0)
    silent = max((each.get("connectors_not_answering", 0) for each in said), default=0)
    if not silent:
        return f"{on:,} on, all answer" if on else ""
    return f"{on:,} on, [yellow]{silent:,} of them not answering[/]; `schleuse connectors list` says why"


TALKING = {
    "turns_running": "{} turns running",
    "turns_waiting": "{} waiting",
    "model_calls_open": "{} calls of models open",
    "cap_refusals": "[yellow]{} refused by a cap[/] since it started",
    "guests_here": "{} guests",
}


def _talking(services: dict[str, Any]) -> str:
    """What the agent does now, all instances together; what there is none of is left out."""
    said = [part.get("figures", {}) for part in services.values()]
    sums = {name: sum(each.get(name) or 0 for each in said) for name in TALKING}
    return ", ".join(words.format(f"{sums[name]:,}") for name, words in TALKING.items() if sums[name])


def _looping(services: dict[str, Any]) -> str:
    """Which process fires tasks, and whether it keeps up."""
    loop = task_loop({name: part.get("figures", {}) for name, part in services.items()})
    if loop is None:
        return ""
    if loop["by"] is None:
        return "[yellow]nobody fires them[/]; a process that stands by takes over within 20 s"
    late = f"; [yellow]{loop['late']:,} late, the oldest for {loop['late_s']:,} s[/]" if loop["late"] else ""
    return f"fired by {escape(loop['by'])} (number {loop['fence']:,}), {loop['fired']:,} since it started{late}"


def _why(found: dict[str, Any]) -> str:
    why = found.get("egress", {}).get("why")
    return f" ({escape(why)})" if why else ""


def _followed(backup: dict[str, Any]) -> str:
    if backup["fault"]:
        return f"[yellow]NOT followed[/] ({escape(backup['fault'])}); `schleuse backup forget` when it is gone for good"
    return f"follows the lock, {backup['followed_until'][11:16] or 'soon'} UTC"


def _level(stream: dict[str, Any]) -> str:
    if stream["current"] is None:
        return "replicas unknown"
    behind = stream["replicas"] - stream["current"]
    return (
        f"{stream['replicas']} replicas current"
        if not behind
        else f"[yellow]{behind} of {stream['replicas']} replicas behind[/]"
    )


def _figure(part: dict[str, Any], key: str) -> str:
    """Servers have no such figures; a service whose figure could not be had shows that."""
    if "conditions" not in part:
        return ""
    value = part[key]
    return "unknown" if value is None else f"{value:.0f} s" if key.endswith("seconds") else str(value)


def _red(part: dict[str, Any]) -> str:
    return "; ".join(
        f"{name}: {each.get('detail') or 'not ok'}"
        for name, each in part.get("conditions", {}).items()
        if not each.get("ok")
    )


def _yes(value: bool) -> str:
    return "yes" if value else "NO"
