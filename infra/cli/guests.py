"""`schleuse guests`: who may read the site beside the people of the workplace, by an expiring link (recorded as operator)."""

from typing import Annotated

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.operator import call

Label = Annotated[str, typer.Argument(help="For whom; only staff see it.", metavar="LABEL")]
Days = Annotated[int, typer.Option("--days", help="How long the invitation is good, 1 to 90.", metavar="DAYS")]
Guest = Annotated[str, typer.Argument(help="As `guests list` shows it.", metavar="GUEST")]


def register(app: typer.Typer) -> None:
    guests = typer.Typer(help="List guests of the site, invite, revoke.", no_args_is_help=True)
    guests.command("list")(list_guests)
    guests.command("invite")(invite)
    guests.command("revoke")(revoke)
    app.add_typer(guests, name="guests")


def list_guests(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """The invitations to the site, newest first."""
    found = call(state, "console", "guests.list")
    if as_json:
        print_json(found)
        return
    for each in found["guests"]:
        until = each["until"][:16].replace("T", " ")
        typer.echo(printable(f"{each['guest']}  {each['state']:<8} until {until}  {each['label']}"))
    typer.echo(counted(len(found["guests"]), "invitation"))


def invite(label: Label, days: Days = 14, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Print a link that lets somebody read what the site shows to members."""
    found = call(state, "console", "guests.invite", {"label": label, "days": days})
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{found['url']}\nShown once; good for {days} days in one browser.")


def revoke(guest: Guest, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Take an invitation back; what was begun with it ends within a second."""
    found = call(state, "console", "guests.revoke", {"guest": guest})
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{found['revoked']} is revoked")
