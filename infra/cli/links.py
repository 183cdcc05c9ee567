"""`schleuse links`: share links to items that were approved for links."""

from datetime import timedelta
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.clock import now
from shared.operator import call


def register(app: typer.Typer) -> None:
    links = typer.Typer(help="Share links: each opens one item, until it ends or is closed.", no_args_is_help=True)
    links.command("list")(list_links)
    links.command("open")(open_link)
    links.command("close")(close_link)
    app.add_typer(links, name="links")


def open_link(
    item: Annotated[str, typer.Argument(help="An item's id, or kind/lang/path; published with the audience link.")],
    label: Annotated[str, typer.Option("--for", help="For whom it is; only staff see this.")],
    days: Annotated[int, typer.Option("--days", help="How long it is open, 1 to 365.", min=1, max=365)] = 7,
    until: Annotated[
        str, typer.Option("--until", help="Instead, when it ends: 2026-12-01T08:00 (UTC) or with an offset.")
    ] = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Open a link. Its address is printed once and stands nowhere."""
    end = until or (now() + timedelta(days=days)).isoformat()
    found = call(state, "console", "links.open", {"item": item, "label": label, "until": end})
    if as_json:
        print_json(found)
        return
    typer.echo(
        f"{found['url']}\n\nlink {found['link']['link']}, until {found['link']['expires_at']}; it is shown once."
    )


def close_link(
    link: Annotated[str, typer.Argument(help="The link's id, as `schleuse links list` shows it.")],
    reason: Annotated[str, typer.Option("--reason")] = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Close a link, for ever: within two seconds it opens nothing."""
    found = call(state, "console", "links.close", {"link": link, "reason": reason})
    if as_json:
        print_json(found)
        return
    typer.echo(f"link {found['link']['link']} is {found['link']['state']}")


def list_links(
    item: Annotated[str, typer.Option("--item", help="Only links to this item.")] = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """All links, or those to one item, the newest first."""
    found: dict[str, Any] = call(state, "console", "links.list", {"item": item} if item else {})
    if as_json:
        print_json(found)
        return
    for each in found["links"]:
        line = f"{each['link']}  {each['state']:8}  {each['views']:>6} views  until {each['expires_at'][:16]}"
        typer.echo(printable(f"{line}  {each['label']}"))
    typer.echo(counted(len(found["links"]), "link"))
