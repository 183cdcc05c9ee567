"""`schleuse apps`: send a folder as an app, decide about it, stop and start what is installed (recorded as operator)."""

from base64 import b64encode
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.apps.folder import BadFolder, folder_hash, read_folder
from shared.errors import Refused
from shared.operator import call

App = Annotated[str, typer.Argument(help="The app's slug, or the hash of its folder.", metavar="APP")]
Slug = Annotated[str, typer.Argument(help="The app's slug, as `apps list` shows it.", metavar="APP")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the record, and needed to refuse or stop.")]


def register(app: typer.Typer) -> None:
    apps = typer.Typer(help="Install apps, list them, stop and start them.", no_args_is_help=True)
    apps.command("install")(install)
    apps.command("list")(list_apps)
    apps.command("card")(card)
    apps.command("decide")(decide)
    apps.command("stop")(stop)
    apps.command("start")(start)
    apps.command("share")(share)
    apps.command("jobs")(jobs)
    apps.command("job")(job)
    app.add_typer(apps, name="apps")


def install(
    folder: Annotated[Path, typer.Argument(help="The app's folder, with its app.toml.", metavar="DIR")],
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Send a folder as an app. It is installed when an owner or admin has allowed exactly this folder in the console."""
    try:
        files = read_folder(folder)
    except BadFolder as fault:
        raise Refused(f"{folder} cannot be sent: {fault}") from None
    sent = {path: b64encode(content).decode() for path, content in files.items()}
    found = call(state, "console", "apps.install", {"files": sent})
    if found["folder_hash"] != folder_hash(files):
        raise Refused("the console read another folder than the one that was sent; nothing may be decided about it")
    if as_json:
        print_json(found)
    elif found["state"] == "installed":
        typer.echo(f"{found['slug']}: exactly this folder is installed already")
    else:
        typer.echo(f"{found['slug']}: {counted(found['files'], 'file')} wait for a decision: {found['url']}")


def list_apps(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """What is installed, and how it stands."""
    found = call(state, "console", "apps.list", {})
    if as_json:
        print_json(found)
        return
    for each in found["apps"]:
        _say(each)
    typer.echo(counted(len(found["apps"]), "app"))


def card(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """The folders that wait for a decision."""
    found = call(state, "console", "apps.cards", {})
    if as_json:
        print_json(found)
        return
    for each in found["cards"]:
        code = "with code" if each["has_code"] else "plain tables"
        typer.echo(printable(f"{each['slug']}  {each['title']}: {counted(each['files'], 'file')}, {code}, {each['folder_hash']}"))  # fmt: skip
        typer.echo(f"    {each['url']}")
    typer.echo(counted(len(found["cards"]), "card"))


def decide(
    app: App,
    verdict: Annotated[str, typer.Option("--verdict", help="install or refuse.")],
    reason: Reason = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Install exactly the folder that waits, or refuse it."""
    found = call(state, "console", "apps.decide", {"app": app, "verdict": verdict, "reason": reason})
    _tell(found, as_json)


def stop(app: Slug, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Take an app out of service. Its tables and rows stay."""
    _tell(call(state, "console", "apps.stop", {"app": app, "reason": reason}), as_json)


def start(app: Slug, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Put an app back into service, by the folder that was approved."""
    _tell(call(state, "console", "apps.start", {"app": app}), as_json)


def share(
    app: Slug,
    off: Annotated[bool, typer.Option("--off", help="The agent may know of it no more.")] = False,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Let the agent know an app's tables and columns, but no rows; or take that back."""
    _tell(call(state, "console", "apps.share", {"app": app, "shared": not off}), as_json)


def jobs(app: Slug, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """The jobs of an app's code, and what became of their runs."""
    found = call(state, "console", "apps.jobs", {"app": app})
    if as_json:
        print_json(found)
        return
    for each in found["jobs"]:
        when = f"on, next {each['next_at']}" if each["is_on"] else "off"
        typer.echo(printable(f"{each['name']}  {each['schedule']} ({each['zone']}): {when}"))
    for each in found["runs"]:
        typer.echo(printable(f"    {each['started_at']} {each['name']}: {each['state']} {each['error']}"))


def job(
    app: Slug,
    name: Annotated[str, typer.Argument(help="As `apps jobs` shows it.", metavar="JOB")],
    do: Annotated[str, typer.Option("--do", help="on, off or run.")],
    zone: Annotated[
        str, typer.Option("--zone", help="The time zone that its times are meant in, such as Europe/Berlin.")
    ] = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Switch a job of an app's code on or off, or let it run now."""
    found = call(state, "console", "apps.job", {"app": app, "job": name, "do": do, "zone": zone})
    if as_json:
        print_json(found)
    else:
        typer.echo(f"run {found['run']} has begun" if "run" in found else f"{name} is {do}")


def _tell(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
    elif "version" in found:
        _say(found)
    else:
        typer.echo(f"{found['slug']}  {found['state']}")


def _say(each: dict[str, Any]) -> None:
    why = f" ({each['reason']})" if each["reason"] else ""
    known = ", known to the agent" if each["shared"] else ""
    tables = ", ".join(f"{name} ({columns})" for name, columns in each["tables"].items()) or "no tables"
    typer.echo(printable(f"{each['slug']}  {each['state']}{why}: {each['title']}, {each['kind']}{known}: {tables}"))
