"""What import-linter cannot see: who may commit, write SQL, read the clock, and that READMEs agree with the catalogue."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.catalogue import SERVICES, owned_by, read_by

ROOT = Path(__file__).parents[2]
PRODUCT = ("schemas", "shared", "services", "infra")
SQL = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+(\.\w+)?\s+SET|DELETE\s+FROM)\b", re.S)
SQL_FILES = {"store.py", "views.py", "tables.py", "guards.py"}


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (ROOT / folder).rglob("*.py")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def calls(path: Path) -> Iterator[tuple[str, int]]:
    """Dotted names of what a file calls, with the line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno


def test_nothing_commits_outside_the_database_package() -> None:
    found = [
        f"{name(path)}:{line}"
        for path in sources("services", "shared")
        if "shared/db" not in name(path)
        for called, line in calls(path)
        if re.search(r"(conn|connection|session|tx|transaction|db|engine|raw)\.(commit|rollback)$", called)
    ]
    assert not found, "committing is the only way to publish, so it stays in shared.db"


def test_sql_stands_in_store_views_and_tables_only() -> None:
    found = []
    for path in sources("services"):
        if path.name in SQL_FILES:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value):
                found.append(f"{name(path)}:{node.lineno}")
    assert not found


def test_the_clock_and_random_ids_are_read_in_shared_only() -> None:
    found = [
        f"{name(path)}:{line} {called}"
        for path in sources("services", "schemas")
        for called, line in calls(path)
        if called in ("datetime.now", "datetime.utcnow", "uuid4", "uuid.uuid4", "time.time")
    ]
    assert not found


def test_the_environment_is_read_by_settings_only() -> None:
    found = [
        name(path)
        for path in sources("services", "shared")
        if path.name != "settings.py" and "shared/testing" not in name(path) and "os.environ" in path.read_text()
    ]
    assert not found


def test_nobody_catches_everything_outside_shared() -> None:
    found = [
        f"{name(path)}:{node.lineno}"
        for path in sources("services")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
    ]
    assert not found


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_handles_what_the_catalogue_says_it_reads(service: str) -> None:
    text = "".join(path.read_text() for path in sources(f"services/{service}") if path.name == "intake.py")
    for event in read_by(service):
        assert f'@on("{event.name}"' in text, f"services/{service} has no handler for {event.name}"


@pytest.mark.parametrize("service", SERVICES)
def test_a_readme_agrees_with_the_catalogue(service: str) -> None:
    text = (ROOT / "services" / service / "README.md").read_text()
    for event in (*owned_by(service), *read_by(service)):
        assert f"`{event.name}`" in text, f"services/{service}/README.md does not name {event.name}"


def test_no_word_of_the_forbidden_kinds() -> None:
    """No machine's paths, no package index, in anything that is committed by hand."""
    words = [f"/{home}/" for home in ("work", "root")] + ["index" + "-url", "pypi" + r"\.org", "registry" + r"\.npmjs"]
    bad = re.compile("|".join(words))
    found = [
        f"{name(path)}: {match.group()}"
        for folder in (*PRODUCT, "tests")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in (".py", ".sh", ".txt", ".md", ".html", ".css", ".js", ".json", ".in")
        if (match := bad.search(path.read_text(errors="replace"))) and path.name != Path(__file__).name
    ]
    assert not found
