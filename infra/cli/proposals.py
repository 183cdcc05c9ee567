"""`schleuse proposals`: apps, rows and cleanup jobs that the agent proposes to the console, and deciding them (recorded as operator)."""

from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Which = Annotated[str, typer.Argument(help="As `proposals list` shows it; the first characters do.", metavar="PROPOSAL")]  # fmt: skip
Everything = Annotated[bool, typer.Option("--all", help="Also those that were decided.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; the agent tells whoever asked for it. Needed to refuse.")]


def register(app: typer.Typer) -> None:
    proposals = typer.Typer(help="What the agent proposes to the console: list, accept, refuse.", no_args_is_help=True)
    proposals.command("list")(list_proposals)
    proposals.command("accept")(accept)
    proposals.command("refuse")(refuse)
    app.add_typer(proposals, name="proposals")


def list_proposals(everything: Everything = False, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Those that wait, the oldest first."""
    found = call(state, "console", "proposals.list", {"all": everything})
    if as_json:
        print_json(found)
        return
    for each in found["proposals"]:
        _say(each)
    typer.echo(counted(len(found["proposals"]), "proposal"))


def accept(proposal: Which, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Carry it out: make the app, write the rows, switch the job on."""
    _decide(state, proposal, "accept", reason, as_json)


def refuse(proposal: Which, reason: Reason, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Nothing is done."""
    _decide(state, proposal, "refuse", reason, as_json)


def _decide(state: Any, proposal: str, verdict: str, reason: str, as_json: bool) -> None:
    listed: list[dict[str, Any]] = call(state, "console", "proposals.list", {"all": True})["proposals"]
    meant = [each["proposal"] for each in listed if each["proposal"].startswith(proposal.lower())]
    if len(meant) != 1:
        raise Refused(f"{len(meant) or 'no'} proposals begin with {proposal}; `schleuse proposals list --all` shows them")  # fmt: skip
    found = call(state, "console", "proposals.decide", {"proposal": meant[0], "verdict": verdict, "reason": reason})
    if as_json:
        print_json(found)
    else:
        _say(found)


def _say(each: dict[str, Any]) -> None:
    why = f": {each['reason']}" if each["reason"] else ""
    typer.echo(printable(f"{each['proposal']}  {each['about']}, {each['state']}: {each['title']}, for {each['owner_name']}{why}"))  # fmt: skip
