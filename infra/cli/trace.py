"""`schleuse trace ITEM`: one item's whole story, gathered from what every service staged, sent and handled."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, print_json
from infra.cli.parked import ask_all
from schemas.catalogue import BY_NAME
from schemas.language import spelled
from shared.errors import NotFound
from shared.ids import item_id


def register(app: typer.Typer) -> None:
    app.command()(trace)


def trace(
    item: Annotated[str, typer.Argument(help="Item id, or kind/lang/path.", metavar="ITEM")],
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Print every hop of an item in time order: event, service, time, and milliseconds since the hop before."""
    found = hops(
        as_id(item), [hop for _, answer in ask_all(state, "hops", {"item_id": as_id(item)}) for hop in answer["hops"]]
    )
    if not found["hops"]:
        raise NotFound(f"no service knows an item {item!r}")
    if as_json:
        print_json(found)
    else:
        _show(found)


def as_id(item: str) -> str:
    """kind/lang/path becomes the id that every service computes from it. NotFound for what is neither."""
    parts = item.removesuffix(".md").split("/", 2)
    if len(parts) == 3:
        return str(item_id(parts[0], spelled(parts[1]), parts[2]))
    try:
        return str(UUID(item))
    except ValueError:
        raise NotFound(f"there is no item {item!r}; name its id, or kind/lang/path", code="unknown_item") from None


def hops(item: str, listed: list[dict[str, Any]]) -> dict[str, Any]:
    """{"item_id", "trace_ids", "hops": [{"event","service","step","at","ms","trace_id"}]}, in time order."""
    listed = sorted(listed, key=lambda hop: (datetime.fromisoformat(hop["at"]), _order(hop)))
    previous: datetime | None = None
    for hop in listed:
        at = datetime.fromisoformat(hop["at"])
        hop["ms"] = 0.0 if previous is None else round((at - previous).total_seconds() * 1000, 3)
        previous = at
    traces = list(dict.fromkeys(hop["trace_id"] for hop in listed if hop.get("trace_id")))
    return {"item_id": item, "trace_ids": traces, "hops": listed}


def _order(hop: dict[str, Any]) -> int:
    return ("staged", "sent", "handled").index(hop["step"]) if hop["step"] in ("staged", "sent", "handled") else 3


def _show(found: dict[str, Any]) -> None:
    for hop in found["hops"]:
        at = datetime.fromisoformat(hop["at"])
        about = BY_NAME[hop["event"]].about if hop["step"] == "staged" and hop["event"] in BY_NAME else ""
        typer.echo(
            f"{at:%H:%M:%S.%f}  {_gap(hop['ms']):>12}  {hop['service']:<11} {hop['event']:<18} {hop['step']:<8} {about}"
        )
    typer.echo(f"{len(found['hops'])} hops; traces: {', '.join(found['trace_ids']) or 'none'}")


def _gap(milliseconds: float) -> str:
    if milliseconds < 10_000:
        return f"+{milliseconds:.1f} ms"
    return f"+{milliseconds / 1000:.0f} s"
