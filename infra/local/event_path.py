"""`make path EVENT=item.decided`: where an event is defined, staged, routed, handled and tested, from the catalogue and the code."""

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from infra.nats.topology import durables
from schemas.catalogue import BY_NAME, Event, from_stream, from_subject, to_stream, to_subject

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    event = BY_NAME.get(wanted)
    if event is None:
        sys.stderr.write(
            f"there is no event {wanted!r}; the catalogue has:\n" + "".join(f"  {name}\n" for name in sorted(BY_NAME))
        )
        return 2
    for title, lines in sections(event):
        sys.stdout.write(f"{title}\n" + "".join(f"  {line}\n" for line in lines))
    return 0


def sections(event: Event) -> Iterator[tuple[str, list[str]]]:
    """(title, lines) in the order in which the event travels."""
    yield f"{event.name} v{event.version}: {event.about}", []
    yield "defined", [_definition(event), _mention(f"schemas/events/{event.owner}.py", event.name), *_files(event)]
    yield "staged", list(_named(f"services/{event.owner}", event.name)) or ["nowhere yet"]
    yield "routed", list(_routes(event))
    yield "handled", list(_handlers(event.name)) or ["nowhere yet"]
    yield "tested", _mentions("tests", event.name) or ["nowhere yet"]


def _definition(event: Event) -> str:
    path = Path(inspect.getfile(event.model)).relative_to(ROOT)
    return f"{path}:{inspect.getsourcelines(event.model)[1]}  {event.model.__name__}"


def _files(event: Event) -> list[str]:
    found = [
        path.relative_to(ROOT)
        for folder in ("snapshots", "examples")
        for path in (ROOT / "schemas" / folder).rglob("*.json")
        if event.name in str(path)
    ]
    return [str(path) for path in sorted(found)]


def _routes(event: Event) -> Iterator[str]:
    policy = f"policy {event.policy}" + (", not switchable" if event.control else "") + f", lane {event.lane}"
    if event.crosses:
        yield f"{event.owner} -> {from_subject(event.owner, event.name)} -> {_durable(from_stream(event.owner), from_subject(event.owner, event.name))} -> bridge ({policy})"
    for reader in event.readers:
        if reader != "bridge":
            yield f"bridge -> {to_subject(reader, event.name)} -> {_durable(to_stream(reader), to_subject(reader, event.name))} -> {reader}"


def _durable(stream: str, subject: str) -> str:
    names = [each.name for each in durables() if each.stream == stream and subject in each.subjects]
    return f"{stream}/{names[0]}" if names else stream


def _named(folder: str, name: str) -> Iterator[str]:
    """Where the owner's code names the event other than to handle it: there it is staged, or a table says by which name."""
    for path in _naming(folder, name):
        tree, owner = _read(path)
        handled = {id(each) for call in _handling(tree) for each in call.args}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node.value == name and id(node) not in handled:
                yield f"{path.relative_to(ROOT)}:{node.lineno}  {owner.get(node.lineno, '')}".rstrip()


def _handlers(name: str) -> Iterator[str]:
    for path in _naming("services", name):
        tree, owner = _read(path)
        for call in _handling(tree):
            if any(isinstance(each, ast.Constant) and each.value == name for each in call.args):
                yield f"{path.relative_to(ROOT)}:{call.lineno}  {owner.get(call.lineno, '')}".rstrip()


def _handling(tree: ast.Module) -> list[ast.Call]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "on"]


def _read(path: Path) -> tuple[ast.Module, dict[int, str]]:
    """The module, and by line the function that it belongs to, decorators included."""
    tree, owner = ast.parse(_text(path)), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            owner.update(dict.fromkeys(range(first, (node.end_lineno or first) + 1), node.name))
    return tree, owner


def _mentions(folder: str, name: str) -> list[str]:
    """One line per file, with the line numbers."""
    found = {
        path: [number for number, line in _numbered(path) if f'"{name}"' in line] for path in _naming(folder, name)
    }
    return [f"{path.relative_to(ROOT)}:{','.join(map(str, numbers))}" for path, numbers in found.items() if numbers]


def _mention(file: str, name: str) -> str:
    return next((f"{file}:{number}" for number, line in _numbered(ROOT / file) if f'"{name}"' in line), file)


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    return enumerate(_text(path).splitlines(), start=1)


@cache
def _text(path: Path) -> str:
    return path.read_text()


def _naming(folder: str, name: str) -> list[Path]:
    """Files with the event's name in them: few, and only they are worth being read as code."""
    return [path for path in _sources(folder) if name in _text(path)]


@cache
def _sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


if __name__ == "__main__":
    sys.exit(main())
