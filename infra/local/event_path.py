"""`make path EVENT=item.decided`: where an event is defined, staged, routed, handled and tested, from the catalogue and the code."""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from infra.nats.topology import durables
from schemas.catalogue import BY_NAME, Event, from_stream, from_subject, to_stream, to_subject

ROOT = Path(__file__).resolve().parents[2]
STAGING = {"stage", "forward"}
HANDLING = {"on"}


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
    yield "defined", [_definition(event), _mention("schemas/catalogue.py", event.name), *_files(event)]
    yield "staged", _calls("services", STAGING, event.name) or ["nowhere yet"]
    yield "routed", list(_routes(event))
    yield "handled", _calls("services", HANDLING, event.name) or ["forwarded by the lock, or nowhere yet"]
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


def _calls(folder: str, functions: set[str], name: str) -> list[str]:
    """Calls and decorators of those functions whose first texts include the event's name."""
    return [line for path in _sources(folder) for line in _calls_in(path, lambda call: _is_call(call, functions, name))]


def _calls_in(path: Path, wanted: Callable[[ast.Call], bool]) -> Iterator[str]:
    owner: dict[int, str] = {}
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            owner.update(dict.fromkeys(range(first, (node.end_lineno or first) + 1), node.name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and wanted(node):
            yield f"{path.relative_to(ROOT)}:{node.lineno}  {owner.get(node.lineno, '')}"


def _is_call(call: ast.Call, functions: set[str], name: str) -> bool:
    called = (
        call.func.attr
        if isinstance(call.func, ast.Attribute)
        else call.func.id
        if isinstance(call.func, ast.Name)
        else ""
    )
    return called in functions and any(isinstance(each, ast.Constant) and each.value == name for each in call.args)


def _mentions(folder: str, name: str) -> list[str]:
    return [line for path in _sources(folder) for line in _lines_with(path, name)]


def _mention(file: str, name: str) -> str:
    return next(_lines_with(ROOT / file, name), file)


def _lines_with(path: Path, name: str) -> Iterator[str]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if f'"{name}"' in line:
            yield f"{path.relative_to(ROOT)}:{number}"


def _sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


if __name__ == "__main__":
    sys.exit(main())
