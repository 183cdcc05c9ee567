"""`schleuse publish`: hand Markdown files to the lock."""

import unicodedata
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, complain, print_json, printable
from shared.errors import Refused
from shared.markup.files import named_in
from shared.operator import call

PORTION = 4 * 1024 * 1024
"""Bytes of text in one call."""
SUFFIXES = (".md", ".markdown")
MOST = 20 * 1024 * 1024
"""Bytes of a file before it is made ready; what may become public is much less."""


@dataclass
class Gathered:
    """Files to send as (path of the item, file), and what was left aside with the reason. `roots`: the folders that were named; nothing outside is read. `taken`: files that go with an item."""

    files: dict[str, Path] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)
    roots: dict[str, Path] = field(default_factory=dict)
    taken: set[Path] = field(default_factory=set)

    @property
    def left(self) -> list[dict[str, str]]:
        """What was left aside, without what went with an item after all."""
        taken = {str(path) for path in self.taken}
        return [
            {"path": each["path"], "reason": each["reason"]} for each in self.skipped if each.get("at") not in taken
        ]

    def add(self, name: str, file: Path) -> None:
        if name in self.files:
            raise Refused(f"{self.files[name]} and {file} would both become the item {name}; nothing was sent")
        self.files[name] = file


def register(app: typer.Typer) -> None:
    app.command()(publish)


def publish(
    paths: Annotated[list[Path], typer.Argument(help="Markdown files, or folders of them.", metavar="PATH...")],
    kind: Annotated[str, typer.Option("--kind", help="page, doc, report or announcement.")],
    lang: Annotated[str, typer.Option("--lang", help="Language tag, such as de, en, pt-BR.")],
    audience: Annotated[
        str, typer.Option("--audience", help="public, members, or link: by a share link only.")
    ] = "public",
    attach: Annotated[
        list[Path] | None,
        typer.Option("--attach", help="A file to go with it; again for more. With one Markdown file only."),
    ] = None,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Hand Markdown to the lock; returns when everything is queued or refused. Nothing becomes public by this.

    A file's item is its path below the folder that was named, without extension; a file that was named itself gives its stem.
    Pictures and files beside it that its text names go with it, at most 20 of 640 KiB; pictures are made anew without what else was in their files.
    The same kind, language and path again is a new revision. Exit code 1 when something was refused.
    """
    gathered = gather(paths)
    if attach and len(gathered.files) != 1:
        raise Refused("--attach goes with one Markdown file; name the others in the texts that they belong to")
    items: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    for portion in portions(gathered, kind, lang, refused, attach or []):
        for one in portion:
            one["audience"] = audience
        answer = call(state, "console", "items.submit", {"items": portion})
        items += answer["items"]
        refused += answer["refused"]
    found = {"submitted": len(items), "items": items, "refused": refused, "skipped": gathered.left}
    if as_json:
        print_json(found)
    else:
        _show(found)
    raise typer.Exit(FAILED if refused or not items else 0)


def gather(paths: list[Path]) -> Gathered:
    """Refused when a path does not exist or two files would be the same item."""
    found = Gathered()
    for path in paths:
        if path.is_dir():
            _gather_folder(path, found)
        elif path.is_file():
            found.add(path.stem if path.suffix.lower() in SUFFIXES else path.name, path)
        else:
            raise Refused(f"{path} does not exist; nothing was sent")
    if not found.files:
        raise Refused("there is no Markdown file in what was named; nothing was sent")
    return found


def _gather_folder(folder: Path, found: Gathered) -> None:
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if not file.is_file():
            continue
        if any(part.startswith(".") for part in inside.parts):
            found.skipped.append({"path": str(inside), "reason": "hidden"})
        elif file.suffix.lower() not in SUFFIXES:
            found.skipped.append({"path": str(inside), "reason": "not Markdown", "at": str(file.resolve())})
        elif not file.resolve().is_relative_to(folder.resolve()):
            found.skipped.append({"path": str(inside), "reason": "a link that leads out of the folder"})
        else:
            found.add(inside.with_suffix("").as_posix(), file)
            found.roots[inside.with_suffix("").as_posix()] = folder


def portions(
    gathered: Gathered, kind: str, lang: str, refused: list[dict[str, Any]], attach: Sequence[Path] = ()
) -> Iterator[list[dict[str, Any]]]:
    """Calls of bounded size; what cannot be read or is not UTF-8 is refused here."""
    waiting: list[dict[str, Any]] = []
    size = 0
    for name, file in gathered.files.items():
        try:
            raw = file.read_bytes()
            text = raw.decode("utf-8")
            files = beside(file, gathered.roots.get(name, file.parent), text, attach)
        except OSError as error:
            refused.append({"path": name, "reason": f"{file} cannot be read: {error.strerror}"})
            continue
        except UnicodeDecodeError as error:
            refused.append({"path": name, "reason": f"{file} is not UTF-8 (byte {error.start})"})
            continue
        except Refused as error:
            refused.append({"path": name, "reason": error.message})
            continue
        gathered.taken |= {each.path.resolve() for each in files}
        weight = len(raw) + sum(len(each.data) for each in files)
        if waiting and size + weight > PORTION:
            yield waiting
            waiting, size = [], 0
        waiting.append({"kind": kind, "lang": lang, "path": name, "text": text} | with_files(files))
        size += weight
    if waiting:
        yield waiting


@dataclass(frozen=True)
class Beside:
    """A file that goes with an item. `data` in base64."""

    name: str
    path: Path
    data: str = field(repr=False)


def beside(file: Path, root: Path, text: str, attach: Sequence[Path] = ()) -> list[Beside]:
    """The files below `root` that the text names, relative to its own, and of those attached. Refused for two of one name.

    Other Markdown files are pages of their own: a link to one is a link between pages.
    """
    named = [
        file.parent / each
        for each in named_in(text)
        if not each.startswith("/") and not each.lower().endswith(SUFFIXES)
    ]
    found: dict[str, Path] = {}
    inside = [path for path in named if path.is_file() and path.resolve().is_relative_to(root.resolve())]
    for each in [*inside, *attach]:
        name = unicodedata.normalize("NFC", each.name)
        if found.setdefault(name, each).resolve() != each.resolve():
            raise Refused(f"{found[name]} and {each} would both be the attachment {name}; rename one")
    return [Beside(name, path, b64encode(_read(path)).decode()) for name, path in found.items()]


def with_files(files: Sequence[Beside]) -> dict[str, Any]:
    return {"files": [{"name": each.name, "data": each.data} for each in files]} if files else {}


def _read(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MOST:
        raise Refused(f"{path} has {size >> 20} MiB; at most {MOST >> 20} are read")
    return path.read_bytes()


def _show(found: dict[str, Any]) -> None:
    for item in found["items"]:
        typer.echo(printable(f"{item['state']:<10} {item['item_id']}  {item['path']}"))
    for each in found["skipped"]:
        complain(f"skipped {each['path']}: {each['reason']}")
    for each in found["refused"]:
        complain(f"refused {each['path']}: {each['reason']}")
    typer.echo(f"{found['submitted']} handed to the lock; a person decides in the console")
