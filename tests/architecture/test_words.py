"""What a person reads is said through the catalogue, and German has all of it."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from services.console.words.catalogue import HOLE, holes
from tests.factories.stack import ROOT

CONSOLE = ROOT / "services" / "console"
GERMAN = sorted((CONSOLE / "words" / "de").glob("*.toml"))
TEMPLATES = sorted((CONSOLE / "templates").glob("*.html"))
SAYS, MANY = {"_", "_m"}, "_n"
PARSER = Environment(trim_blocks=True, lstrip_blocks=True)
ERRORS = {"Refused", "TooLarge", "Forbidden", "Unauthorized", "TooMany", "NotFound", "Conflict"}
NOT_PAGES = re.compile(r"(operator|api|api_bodies|asking|intake|restored)\.py$|/(keys|api)/")
"""The operator's commands, the API and key rotation speak to programs and terminals, in English."""
MARKUP = re.compile(r"<(?:\"[^\"]*\"|'[^']*'|[^<>\"'])*>", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2,}")
SAID_AS_IT_IS = re.compile(
    r"SHA-256|UTC|TLS|CPU|CSV|JSON|Schleuse|Authorization: Bearer …|[\w./-]*\.md|guide/first-steps|\bms\b|\b(en|de|fr)\b|g \b|user:7|Esc|Enter|&\w+;"
)
"""Names, units and codes that are the same in every language."""
RAW = re.compile(r">\s*\{\{ '([A-Za-z][^']*)' if|\{\{ (?!_\()[^}]*\bor '([a-z][^']*)'\)? ?(?:\| seen )?\}\}")
"""A literal that an expression shows as it is."""
SAID_BY_ATTRIBUTE = re.compile(r"(?<![\w-])(?:aria-label|title|placeholder|alt)=\"([^\"]*)\"")


@cache
def german() -> dict[str, str]:
    return {key: text for path in GERMAN for key, text in tomllib.loads(path.read_text("utf-8")).items()}


def said(path: Path) -> Iterator[tuple[str, int]]:
    """Every literal that a template says, with its line."""
    for call in PARSER.parse(path.read_text("utf-8")).find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name in SAYS | {MANY}:
            for argument in call.args[: 2 if call.node.name == MANY else 1]:
                if isinstance(argument, nodes.Const):
                    yield str(argument.value), call.lineno


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_says_nothing_past_the_catalogue(path: Path) -> None:
    text = re.sub(r"\{% block width %\}.*?\{% endblock %\}", "", path.read_text("utf-8"))
    bare = re.sub(
        r"(?s)<(code|kbd)\b.*?</\1>|<!doctype html>", "", re.sub(r"(?s)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", text)
    )
    shown = [MARKUP.sub("\n", bare), *SAID_BY_ATTRIBUTE.findall(bare)]
    left = [line.strip() for piece in shown for line in SAID_AS_IT_IS.sub("", piece).splitlines() if WORD.search(line)]
    left += [found[1] or found[2] for found in RAW.finditer(text)]
    assert left == [], f"{path.name}: say these with _('…')"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_every_sentence_of_a_page_has_its_german(path: Path) -> None:
    known = german()
    missing = [f"line {line}: {text}" for text, line in said(path) if WORD.search(text) and text not in known]
    assert missing == [], "write them into services/console/words/de/<subject>.toml"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_only_literals_hold_markup(path: Path) -> None:
    calls = PARSER.parse(path.read_text("utf-8")).find_all(nodes.Call)
    marked = [call for call in calls if isinstance(call.node, nodes.Name) and call.node.name == "_m"]
    assert all(isinstance(call.args[0], nodes.Const) for call in marked)


def refusals() -> Iterator[tuple[str, str]]:
    """(where, message with its values as {}) of every error that a page of the console can show."""
    for path in sorted(CONSOLE.rglob("*.py")):
        place = path.relative_to(CONSOLE).as_posix()
        if NOT_PAGES.search(f"/{place}"):
            continue
        for call in (each for each in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(each, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id in ERRORS and call.args:
                message = literal(call.args[0])
                if message and WORD.search(message) and message[0].isupper():
                    yield f"{place}:{call.lineno}", message


def literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
    return None


def test_every_refusal_of_a_page_has_its_german() -> None:
    known = {HOLE.sub("{}", key) for key in german()}
    missing = [f"{where}: {message}" for where, message in refusals() if message not in known]
    assert missing == [], "write them into services/console/words/de/<subject>.toml, values as {name}"


def test_both_sides_of_a_sentence_have_the_same_values() -> None:
    off = [key for key, text in german().items() if set(holes(key)) != set(holes(text))]
    assert off == []


def test_a_sentence_that_two_files_have_is_the_same_in_both() -> None:
    seen: dict[str, tuple[str, str]] = {}
    twice = []
    for path in GERMAN:
        for key, text in tomllib.loads(path.read_text("utf-8")).items():
            if seen.setdefault(key, (path.name, text))[1] != text:
                twice.append(f"{key}: {seen[key]} and {path.name}: {text}")
    assert twice == []


def test_what_the_script_says_has_its_german() -> None:
    script = "".join((CONSOLE / "static" / name).read_text("utf-8") for name in ("console.js", "system.js"))
    known = tomllib.loads((CONSOLE / "words" / "de" / "script.toml").read_text("utf-8"))
    missing = [text for text in re.findall(r'\bsay\("([^"]+)"', script) if text not in known]
    assert missing == []
