"""`schleuse schedule preview`: what a schedule in words means. Needs no running system: the agent uses the same code."""

from datetime import UTC, date, datetime, time
from typing import Annotated, NoReturn

import typer

from infra.cli.options import FAILED, Json, complain, print_json, printable
from schemas.text import text_fault
from shared.clock import now
from shared.errors import Refused
from shared.schedules.checks import LATEST_YEAR, SOONEST_YEAR, Impossible
from shared.schedules.domain import RULE, Understood
from shared.schedules.instants import instant
from shared.schedules.telling import Line, next_lines
from shared.schedules.words import understand
from shared.schedules.words.language import spoken
from shared.schedules.words.vocabulary import fold
from shared.schedules.zones import check_zone, zone_of

Text = Annotated[str, typer.Argument(help='Such as "every Sunday at 7", "jeden Werktag um 7:30", "0 7 * * MON-FRI".')]
Zone = Annotated[str, typer.Option("--zone", help="The owner's zone, as IANA names it: Europe/Berlin.", metavar="ZONE")]
From = Annotated[
    str, typer.Option("--from", help="As if it were that time: 2027-03-26T12:00Z; without an offset, of the zone. Now by default.", metavar="TIME")
]  # fmt: skip


def register(app: typer.Typer) -> None:
    schedule = typer.Typer(help="What a schedule in words means.", no_args_is_help=True)
    schedule.callback()(_nothing)
    schedule.command("preview")(preview)
    app.add_typer(schedule, name="schedule")


def _nothing() -> None:
    """Keeps `schedule` a group while it has one command."""


def preview(text: Text, zone: Zone, start: From = "", as_json: Json = False) -> None:
    """What was understood, and its next five times in the zone and in UTC, with what is shifted and why. Makes nothing."""
    try:
        check_zone(zone)
        at = _moment(start, zone)
        understood, lines = _understood(text, zone, at)
    except Refused as error:
        _refuse(error, as_json=as_json)
    if as_json:
        rule = RULE.dump_python(understood.rule, mode="json", exclude_defaults=True)
        next_ = [{"local": each.local, "utc": each.utc, "note": each.note} for each in lines]
        print_json({"zone": zone, "kind": understood.rule.kind, "rule": {"kind": understood.rule.kind, **rule}, "next": next_})  # fmt: skip
    else:
        _show(understood, lines)


def _understood(text: str, zone: str, at: datetime) -> tuple[Understood, tuple[Line, ...]]:
    if found := text_fault(text):
        raise Impossible(found, "write the schedule anew")
    understood = understand(text, zone, at)
    language = spoken(fold(understood.words).split())
    return understood, next_lines(understood, at, language=language)


def _moment(start: str, zone: str) -> datetime:
    """The instant that `--from` names. Refused: what is none."""
    if not start:
        return now()
    try:
        found = (
            datetime.combine(date.fromisoformat(start), time()) if len(start) == 10 else datetime.fromisoformat(start)
        )
    except ValueError:
        raise Impossible(f"{start} is no time", "write 2027-03-26T12:00Z, or 2027-03-26T12:00 for the zone's clock") from None  # fmt: skip
    if not SOONEST_YEAR <= found.year <= LATEST_YEAR:
        raise Impossible(f"the year {found.year} is not reckoned with", f"give one from {SOONEST_YEAR} to {LATEST_YEAR}")  # fmt: skip
    return found.astimezone(UTC) if found.tzinfo else instant(zone_of(zone), found)[0]


def _refuse(error: Refused, *, as_json: bool) -> NoReturn:
    hint = getattr(error, "hint", "")
    said = error.message.removesuffix(hint).rstrip("; ") if hint else error.message
    if as_json:
        print_json({"error": said, "hint": hint})
    else:
        complain(f"{said}{'' if said.endswith('.') else ';'} {hint}" if hint else said)
    raise typer.Exit(FAILED)


def _show(understood: Understood, lines: tuple[Line, ...]) -> None:
    typer.echo(printable(f"{understood.words} ({understood.zone})"))
    for note in understood.notes:
        typer.echo(printable(f"note: {note}"))
    for each in lines:
        local = datetime.fromisoformat(each.local).strftime("%a %Y-%m-%d %H:%M:%S %z")
        typer.echo(printable(f"{local}   {each.utc}{f'   {each.note}' if each.note else ''}"))
