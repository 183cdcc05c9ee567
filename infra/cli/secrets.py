"""`schleuse secrets`: what the connectors may use where (recorded as operator). A value comes from a prompt or from stdin, is sealed in this process, and is never an argument."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from infra.cli.secret_values import public_fields, read_span, sealed_fields
from shared.operator import call
from shared.sealing import read_place
from shared.sealing.types import check_type

Place = Annotated[
    str, typer.Argument(help="surface/connector/name, or surface/connector/user:ID/name.", metavar="PLACE")
]
Type = Annotated[str, typer.Option("--type", help="api_key, basic, oauth2, imap, smtp or signing_key.", metavar="TYPE")]
Public = Annotated[
    list[str],
    typer.Option("--set", help="A field that is no value, such as host=imap.example.org.", metavar="NAME=TEXT"),
]
Fields = Annotated[
    bool, typer.Option("--fields", help="Stdin is one JSON object with all the type's fields, not one value.")
]
Operations = Annotated[
    list[str], typer.Option("--operation", help="An operation that it may be used for.", metavar="NAME")
]
Expires = Annotated[str, typer.Option("--expires-in", help="How long it counts: 90d, 12h.", metavar="TIME")]
Overlap = Annotated[
    str, typer.Option("--overlap", help="How long the version before stays usable: 1h, up to 7d.", metavar="TIME")
]
Version = Annotated[int, typer.Argument(help="As `secrets show` lists it.", metavar="VERSION")]
OneVersion = Annotated[int, typer.Option("--version", help="Only this version; the whole secret without.", min=0)]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with the change.")]

SOON = timedelta(days=14)


def register(app: typer.Typer) -> None:
    secrets = typer.Typer(help="Put, list, rotate, restore, narrow, revoke secrets.", no_args_is_help=True)
    secrets.command("put")(put)
    secrets.command("list")(list_secrets)
    secrets.command("show")(show)
    secrets.command("rotate")(rotate)
    secrets.command("restore")(restore)
    secrets.command("revoke")(revoke)
    secrets.command("narrow")(narrow)
    app.add_typer(secrets, name="secrets")


def put(
    place: Place,
    kind: Type,
    public: Public = [],  # noqa: B006 - typer reads defaults, nobody changes it
    fields: Fields = False,
    operation: Operations = [],  # noqa: B006
    expires_in: Expires = "",
    reason: Reason = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Put a new secret. The value is asked for without echo, or read from stdin when that is no terminal."""
    where, type_ = read_place(place), check_type(kind)
    call(state, "console", "secrets.list")  # nobody types a value for a system that is not there
    shown, sealed = sealed_fields(state, where, type_, public_fields(type_, public), fields)
    wanted = {"type": type_, "public": shown, "sealed": sealed, "operations": operation, **_expiry(expires_in)}
    _change(state, "put", str(where), reason, as_json, **wanted)


def rotate(
    place: Place,
    public: Public = [],  # noqa: B006
    fields: Fields = False,
    overlap: Overlap = "1h",
    expires_in: Expires = "",
    reason: Reason = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Put the next version; the one before it stays usable for a while. Fields that are no values stay unless --set."""
    where = read_place(place)
    held = call(state, "console", "secrets.show", {"place": str(where)})
    type_ = check_type(held["type"])
    shown, sealed = sealed_fields(state, where, type_, held["public"] | public_fields(type_, public), fields)
    wanted = {"public": shown, "sealed": sealed, "overlap_s": _seconds(overlap), **_expiry(expires_in)}
    _change(state, "rotate", str(where), reason, as_json, **wanted)


def restore(
    place: Place,
    version: Version,
    overlap: Overlap = "1h",
    reason: Reason = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Use an earlier version again."""
    _change(state, "restore", place, reason, as_json, version=version, overlap_s=_seconds(overlap))


def revoke(
    place: Place, version: OneVersion = 0, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False
) -> None:
    """Take a secret (or one of its versions) out of use for good, within a second. Its files are deleted."""
    _change(state, "revoke", place, reason, as_json, version=version)


def narrow(
    place: Place, operation: Operations, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False
) -> None:
    """Let it be used for these operations only, from now on."""
    _change(state, "narrow", place, reason, as_json, operations=operation)


def list_secrets(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Every secret: place, type, state, version, expiry, last use. Never a value."""
    found = call(state, "console", "secrets.list")
    if as_json:
        print_json(found)
        return
    for each in found["secrets"]:
        typer.echo(printable(_line(each)))
    typer.echo(counted(len(found["secrets"]), "secret"))


def show(place: Place, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """One secret with its versions and changes. Never a value."""
    found = call(state, "console", "secrets.show", {"place": place})
    if as_json:
        print_json(found)
        return
    typer.echo(printable(_line(found)))
    for name, text in found["public"].items():
        typer.echo(printable(f"  {name}: {text}"))
    typer.echo(printable(f"  operations: {', '.join(found['operations']) or 'all'}"))
    for each in found["versions"]:
        more = f", usable until {_minute(each['usable_until'])}" if each["usable_until"] else ""
        used = f"last used {_minute(each['used_at'])}" if each["used_at"] else "not used yet"
        typer.echo(f"  version {each['version']}: {each['state']}, put {_minute(each['put_at'])}{more}, {used}")
    for each in found["changes"]:
        why = each["outcome_reason"] or each["reason"]
        typer.echo(
            printable(f"  {_minute(each['at'])} {each['action']} by {each['by_name']}: {each['outcome']}  {why}")
        )


def _change(state: Any, action: str, place: str, reason: str, as_json: bool, **wanted: Any) -> None:
    found = call(state, "console", "secrets.change", {"action": action, "place": place, "reason": reason, **wanted})
    if as_json:
        print_json(found)
        return
    now = f"version {found['current']} is in use" if found["current"] else "it is revoked"
    only = f", for {', '.join(found['operations'])} only" if action == "narrow" else ""
    typer.echo(printable(f"{found['place']}: {now}{only}"))


def _line(each: dict[str, Any]) -> str:
    version = f"v{each['current']}" if each["current"] else each["state"]
    used = f"used {_minute(each['used_at'])}" if each["used_at"] else "not used yet"
    return f"{each['place']:<40} {each['type']:<12} {version:<8} {_expires(each['expires_at'])}, {used}"


def _expires(at: str | None) -> str:
    if at is None:
        return "no expiry"
    left = datetime.fromisoformat(at) - datetime.now(UTC)
    return f"{'EXPIRED' if left <= timedelta(0) else 'EXPIRES SOON' if left <= SOON else 'expires'} {_minute(at)}"


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def _seconds(span: str) -> float:
    return read_span(span).total_seconds()


def _expiry(span: str) -> dict[str, str]:
    return {"expires_at": (datetime.now(UTC) + read_span(span)).isoformat()} if span else {}
