"""`schleuse forget`: somebody is forgotten, also where nobody looks: trash, parked events, what was sent, figures (S15; recorded as operator)."""

from datetime import timedelta
from typing import Annotated, Any

import typer

from infra.backup import followed
from infra.cli.options import DEFAULT_STATE, Json, State, print_json, printable
from infra.local.layout import Layout
from shared.clock import now
from shared.errors import Transient
from shared.operator import call
from shared.settings import DATABASES

Subject = Annotated[str, typer.Argument(help="What stands for them: a mail address, a name, a visitor's pseudonym.", metavar="SUBJECT")]  # fmt: skip
Sure = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Records = Annotated[bool, typer.Option("--records", help="Also the rows of apps that name them; these cannot be restored.")]  # fmt: skip
OUTBOX = timedelta(days=7)


def register(app: typer.Typer) -> None:
    app.command("forget")(forget)


def forget(subject: Subject, records: Records = False, yes: Sure = False, state: State = DEFAULT_STATE, as_json: Json = False) -> None:  # fmt: skip
    """Clear what is kept of somebody beside the records themselves, in every part; says where they still stand, and until when. `agent forget` deletes their workspace."""
    if not yes:
        _say(_asked(state, subject, records, really=False))
        typer.confirm(printable(f"Delete all this of {subject} for good?"), abort=True)
    found = _asked(state, subject, records, really=True)
    if as_json:
        print_json(found)
    else:
        _say(found)


def _asked(state: Any, subject: str, records: bool, *, really: bool) -> dict[str, Any]:
    order = {"text": subject, "really": really, "records": records}
    console = call(state, "console", "forget.subject", order)
    delivery: dict[str, Any] = {}
    for service in DATABASES:
        try:
            delivery[service] = call(state, service, "delivery.forget", order)
        except Transient as away:
            delivery[service] = {"fault": away.message}
    backups = [f"{each.directory} of {each.at}" for each in followed.known(Layout(state.resolve()))]
    return {
        **console, "delivery": delivery, "records_deleted": records and really, "done": really,
        "outboxes_expire": (now() + OUTBOX).isoformat(timespec="minutes"), "backups": backups,
    }  # fmt: skip


def _say(found: dict[str, Any]) -> None:
    word = "deleted" if found["done"] else "to be deleted"
    for name, count in found["cleared"].items():
        if count:
            typer.echo(f"{name:<14} {count:,} {word}")
    for service, each in found["delivery"].items():
        if "fault" in each:
            typer.echo(printable(f"{service:<14} could not be asked: {each['fault']}; run it again"))
        elif each["parked"] or each["outbox"] or each["waiting"]:
            waits = f"; {each['waiting']:,} wait to be sent, run it again afterwards" if each["waiting"] else ""
            typer.echo(f"{service:<14} {each['parked']:,} parked and {each['outbox']:,} sent events {word}{waits}")
    for table, count in found["records"].items():
        gone = word if found["records_deleted"] else "rows name them and stay; --records deletes them"
        typer.echo(printable(f"{table:<14} {count:,} {gone}"))
    typer.echo(
        f"Contents of items in outboxes are not searched; outboxes expire after 7 days, by {found['outboxes_expire']}."
    )
    kept = ", ".join(found["backups"]) or "none is known here"
    typer.echo(printable(f"Backups made before hold it until they are deleted: {kept}."))
