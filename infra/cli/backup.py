"""`schleuse backup`: make one, keep the keys apart, make an identity, verify, list and forget what follows the lock's log."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from infra.backup import followed, keyfile, manifest, sealing
from infra.backup import take as taking
from infra.backup.keyfile import KeyFile
from infra.backup.sealing import Identities, Recipients
from infra.cli.bytes_done import BytesDone
from infra.cli.options import DEFAULT_STATE, Json, State, print_json
from infra.local import config, folders
from infra.local.layout import Layout
from shared.errors import NotFound, Refused
from shared.signing import PublicKeys

To = Annotated[
    list[str],
    typer.Option("--recipient", help="Who can read it: age1…; may be given more than once.", metavar="AGE1…"),
]
ToFile = Annotated[
    Path | None, typer.Option("--recipients-file", help="The same, one a line.", exists=True, dir_okay=False)
]
Whose = Annotated[Path, typer.Option("--identity", help="File with the age identity.", metavar="FILE")]
Remember = Annotated[
    bool, typer.Option("--remember", help="Keep these recipients as the installation's default for later backups.")
]
DEFAULT = "backup_recipients"


class BackupGroup(TyperGroup):
    """`schleuse backup DIR` is `schleuse backup take DIR`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["take", *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        cls=BackupGroup,
        help="`backup DIR --recipient age1…` backs up everything but the keys, of a running or a stopped system. "
        "While DIR can be reached, what the lock records later is written down beside it.",
        no_args_is_help=True,
    )
    group.command("take", hidden=True)(take)
    group.command("keys")(keys)
    group.command("keygen")(keygen)
    group.command("verify")(verify)
    group.command("list")(listed)
    group.command("forget")(forget)
    app.add_typer(group, name="backup")


def take(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    recipient: To = [],  # noqa: B006 - typer copies it
    recipients_file: ToFile = None,
    remember: Remember = False,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Back up databases, streams, workspace and settings into DIR. Keys are not in it: see `backup keys`."""
    to = _recipients(state, recipient, recipients_file, remember=remember)
    with BytesDone(quiet=as_json) as tell:
        found = taking.take(state, directory, to, tell)
    if as_json:
        print_json(found)
        return
    typer.echo(f"{_size(found['bytes'])} in {found['seconds']} s: {found['directory']}")
    for each in found["left_out"]:
        typer.echo(f"left out: {each}")
    if not found["followed"]:
        typer.echo(f"not followed yet ({found['not_followed']}); it will be when the system runs and {directory} can be reached")  # fmt: skip
    typer.echo("Keep the keys apart: `schleuse backup keys FILE`. Restoring needs both, and the identity.")


def keys(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file, somewhere else than the backups.")],
    recipient: To = [],  # noqa: B006 - typer copies it
    recipients_file: ToFile = None,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Write all keys into one file, encrypted. Do it again after a key was rotated."""
    to = _recipients(state, recipient, recipients_file, remember=False)
    found = keyfile.save(taking.source(state), file, to)
    print_json(found) if as_json else typer.echo(f"{found['keys']} files: {found['file']}")


def keygen(file: Annotated[Path, typer.Argument(metavar="FILE")], state: State = DEFAULT_STATE, as_json: Json = False) -> None:  # fmt: skip
    """Make an age identity (0600) and print its recipient. Keep the file away from the machine that is backed up."""
    if Layout(state.resolve()).state in file.resolve().parents:
        raise Refused(f"{file} lies in the state directory: it would open what protects it, and be lost with it", code="inside")  # fmt: skip
    found = sealing.make_identity(file)
    print_json({"file": str(file.resolve()), "recipient": found}) if as_json else typer.echo(found)


def verify(
    directory: Annotated[Path, typer.Argument(metavar="DIR")],
    identity: Whose,
    keys: Annotated[
        Path | None, typer.Option("--keys", help="The key file, where the installation is not at hand.", metavar="FILE")
    ] = None,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Check signature, sizes, every byte, and that this identity can read it. Writes nothing."""
    opened = Identities.read(identity)
    folder = manifest.whole(directory)
    found = manifest.read(folder, _public(state, keys, opened))
    with BytesDone(quiet=as_json) as tell:
        tell({"step": "Checking every file", "total": 2 * sum(each.size for each in found.files.values())})
        taking.verify(folder, found, opened, tell)
    if as_json:
        print_json({"ok": True, "at": found.at.isoformat(), "gate_seq": found.gate_seq, "files": sorted(found.files)})
    else:
        typer.echo(f"whole and unchanged: {found.at:%Y-%m-%d %H:%M} UTC, {len(found.files)} files, entry {found.gate_seq} of the gate's log")  # fmt: skip


def listed(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """The backups that follow the lock's log."""
    found = followed.known(Layout(state.resolve()))
    if as_json:
        print_json([{"directory": each.directory, "at": each.at} for each in found])
        return
    for each in found:
        typer.echo(f"{each.at[:16].replace('T', ' ')}  {each.directory}")


def forget(
    directory: Annotated[Path, typer.Argument(metavar="DIR")], state: State = DEFAULT_STATE, as_json: Json = False
) -> None:
    """Follow a backup no more: after it was moved away or deleted. Nothing in it is touched."""
    if not followed.forget(Layout(state.resolve()), directory.resolve()):
        raise NotFound(f"{directory} is not followed; see `schleuse backup list`", code="unknown_backup")
    print_json({"forgotten": str(directory.resolve())}) if as_json else typer.echo(f"{directory} is not followed any more")  # fmt: skip


def _recipients(state: Path, given: list[str], file: Path | None, *, remember: bool) -> Recipients:
    layout = Layout(state.resolve())
    found = config.read(layout)
    texts = [*given, *(sealing.read_recipients(file) if file else ())]
    kept = getattr(found, DEFAULT, None) or []
    recipients = Recipients(texts or kept)
    if remember and found is not None:
        setattr(found, DEFAULT, list(recipients.texts))
        folders.write(layout.config, found.model_dump_json(indent=1), 0o644)
    return recipients


def _public(state: Path, keys: Path | None, opened: Identities) -> PublicKeys:
    if keys is not None:
        return KeyFile.read(keys, opened).public_keys()
    if Layout(state.resolve()).public_keys.exists():
        return PublicKeys.load(Layout(state.resolve()).public_keys)
    raise Refused(
        "whose signature counts? Name the installation with --state, or its key file with --keys", code="no_keys"
    )


def _size(count: int) -> str:
    return f"{count / 1024**2:.1f} MiB" if count < 1024**3 else f"{count / 1024**3:.2f} GiB"
