"""`schleuse people`: who may sign in at the console; invitations, new passwords, roles, shutting out, signing out (recorded as operator)."""

from typing import Annotated

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, print_json, printable
from shared.operator import call

Handle = Annotated[str, typer.Argument(help="What the person signs in with, as `people list` shows it.", metavar="HANDLE")]  # fmt: skip
Role = Annotated[str, typer.Argument(help="owner, admin, moderator, member or viewer.", metavar="ROLE")]
Name = Annotated[str, typer.Option("--name", help="The person's name, as a proposal.")]
OfWhom = Annotated[str, typer.Option("--handle", help="What the person will sign in with, as a proposal.")]
Tokens = Annotated[bool, typer.Option("--tokens", help="Revoke the person's API tokens too.")]
ONCE = "Shown once, works once, ends after 24 hours."


def register(app: typer.Typer) -> None:
    people = typer.Typer(help="List people, invite, reset passwords, change roles, shut out.", no_args_is_help=True)
    people.command("list")(list_people)
    people.command("invite")(invite)
    people.command("reset")(reset)
    people.command("role")(role)
    people.command("disable")(disable)
    people.command("enable")(enable)
    people.command("sign-out")(sign_out)
    app.add_typer(people, name="people")


def list_people(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Everybody who may sign in, and the invitations that are open."""
    found = call(state, "console", "people.list")
    if as_json:
        print_json(found)
        return
    for each in found["people"]:
        more = "shut out" if each["disabled"] else f"{each['sign_ins']} signed in, {each['tokens']} API tokens"
        typer.echo(printable(f"{each['role']:<9} {each['handle']:<32} {each['name']:<24} {more}"))
    for each in found["invitations"]:
        whom, until = each["name"] or each["handle"] or "somebody", each["expires_at"][:16].replace("T", " ")
        typer.echo(printable(f"{each['role']:<9} invited: {whom}, until {until}, by {each['created_by']}"))


def invite(
    role: Role, name: Name = "", handle: OfWhom = "", state: State = DEFAULT_STATE, as_json: Json = False
) -> None:
    """Print a link with which somebody joins with that role."""
    found = call(state, "console", "people.invite", {"role": role, "name": name, "handle": handle})
    _link(found, as_json)


def reset(handle: Handle, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Print a link with which the person sets a new password. Using it ends all sign-ins of the person."""
    _link(call(state, "console", "people.reset", {"handle": handle}), as_json)


def role(handle: Handle, role: Role, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Change what the person may do, at once. The last owner stays owner."""
    found = call(state, "console", "people.change", {"handle": handle, "role": role})
    _changed(found, f"{handle} is {role}", as_json)


def disable(handle: Handle, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Shut the person out, at once and everywhere; nothing is deleted."""
    found = call(state, "console", "people.change", {"handle": handle, "disabled": True})
    _changed(found, f"{handle} is shut out", as_json)


def enable(handle: Handle, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Let a person in again who was shut out."""
    found = call(state, "console", "people.change", {"handle": handle, "disabled": False})
    _changed(found, f"{handle} may sign in", as_json)


def sign_out(handle: Handle, tokens: Tokens = False, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """End all sign-ins of the person: console, site and workspace. API tokens go on unless you say --tokens."""
    found = call(state, "console", "people.sign_out", {"handle": handle, "tokens": tokens})
    if as_json:
        print_json(found)
        return
    more = f"; {found['tokens']} API tokens revoked" if tokens else "; API tokens go on"
    typer.echo(printable(f"{handle} is signed out everywhere{more}"))


def _link(found: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{found['url']}\n{ONCE}")


def _changed(found: dict[str, bool], says: str, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        typer.echo(printable(says if found["changed"] else f"{says} already; nothing was changed"))
