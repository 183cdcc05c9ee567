"""From records to Markdown: nothing internal, nothing but text (issue: an internal column can't be picked)."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from schemas.work import Column, Table
from services.console.mappings.domain import Report, check_report, inert, path_of, pickable, read_template, render
from services.console.mappings.reading import read_report
from services.console.records.domain import Shape
from shared.errors import Refused
from shared.markup import render as markup

TABLE = Table(
    name="goods",
    key=("code",),
    columns=(
        Column(name="code", visibility="shareable"),
        Column(name="name", visibility="shareable"),
        Column(name="price", type="decimal", visibility="shareable"),
        Column(name="cost", type="decimal"),
    ),
)
SHAPE = Shape("shop", "Shop", "app_shop", TABLE)
REPORT = Report(
    UUID(int=1), "Goods", "shop", "goods", ("code", "name", "price"), (), "", False, "report", "en", "goods", "public", "# Goods\n\n{{table}}\n"
)  # fmt: skip
ROWS: list[dict[str, Any]] = [{"code": "a/1", "name": "Tea", "price": 3}, {"code": "B 2", "name": "Cups", "price": 12}]


def test_only_shareable_columns_can_be_picked() -> None:
    assert pickable(SHAPE) == ["code", "name", "price"]
    check_report(REPORT, SHAPE)


@pytest.mark.parametrize(
    "changed",
    [
        {"columns": ("code", "cost")},
        {"template": "# x\n{{cost}}"},
        {"template": "# x\n{{#rows}}{{ cost }}{{/rows}}"},
        {"template": "# x\n{{table: code, cost}}"},
        {"template": "# x\n{{chart: code, cost}}"},
        {"path": "goods/{{cost}}"},
        {"filters": ("cost:more:5",)},
        {"sort": "cost"},
    ],
)
def test_an_internal_column_is_refused_wherever_it_stands(changed: dict[str, Any]) -> None:
    with pytest.raises(Refused) as told:
        check_report(replace(REPORT, **changed), SHAPE)
    assert told.value.code == "internal" and "cost" in told.value.message


def test_a_column_that_became_internal_is_refused() -> None:
    columns = tuple(each.model_copy(update={"visibility": "internal"}) for each in TABLE.columns)
    with pytest.raises(Refused, match="is internal"):
        check_report(REPORT, replace(SHAPE, table=TABLE.model_copy(update={"columns": columns})))


def test_the_number_of_a_row_is_internal() -> None:
    with pytest.raises(Refused, match="is internal"):
        check_report(replace(REPORT, columns=("id",)), replace(SHAPE, table=TABLE.model_copy(update={"key": ()})))


@pytest.mark.parametrize(
    "template",
    [
        "{{#rows}} a",
        "a {{/rows}}",
        "{{#rows}}{{#rows}}{{/rows}}{{/rows}}",
        "{{#each}}",
        "{{chart}}",
        "{{chart: a}}",
        "{{name: a}}",
    ],
)
def test_a_template_that_means_nothing_is_refused(template: str) -> None:
    with pytest.raises(Refused):
        read_template(template)


@pytest.mark.parametrize(
    "hostile",
    ["<script>alert(1)</script>", "[x](javascript:alert(1))", "# Heading", "**bold** _it_ `code`", "| a | b |", "1. one", "- item", "> quote", "![p](x.png)", "https://evil.example/", "a\n\n# b", "&lt;b&gt; &amp;", "===", "~~~", "{{cost}}", "[^1]", "\\"],
)  # fmt: skip
def test_what_stands_in_a_record_is_text_and_nothing_else(hostile: str) -> None:
    body = render(replace(REPORT, template="{{#rows}}{{name}}\n\n{{/rows}}"), SHAPE, [{"name": hostile}])
    shown = markup(body, "en", "x").html
    tags = {each.split(">")[0].split()[0] for each in shown.replace("</", "<").split("<")[1:]}
    assert tags <= {"p"}, shown
    in_table = markup(render(REPORT, SHAPE, [{"code": "c", "name": hostile, "price": None}]), "en", "x").html
    assert in_table.count("<td") == 3 and "<script" not in in_table and "href" not in in_table


def test_tables_charts_counts_and_rows() -> None:
    report = replace(REPORT, template="{{count}}\n{{chart: name, price}}\n{{#rows}}{{name}};{{/rows}}")
    assert render(report, SHAPE, ROWS) == "2\n```chart\nTea,3\nCups,12\n```\nTea;Cups;"
    assert "<svg" in markup(render(report, SHAPE, ROWS), "en", "x").html


def test_a_field_outside_of_rows_needs_one_row() -> None:
    report = replace(REPORT, template="# {{name}}")
    assert render(report, SHAPE, ROWS[:1]) == "# Tea"
    with pytest.raises(Refused, match="2 rows fit"):
        render(report, SHAPE, ROWS)


def test_each_row_may_have_a_path_of_its_own() -> None:
    report = replace(REPORT, path="goods/{{code}}")
    assert report.by_row and [path_of(report, row) for row in ROWS] == ["goods/a-1", "goods/b-2"]


def test_numbers_keep_their_look() -> None:
    assert inert("39.00") == "39.00" and inert("  a \n b ") == "a b"


@pytest.mark.parametrize(
    "given",
    [
        {"columns": "code"},
        {"columns": [1]},
        {"name": 5},
        {"filters": [f"x{n}" for n in range(11)]},
        {"template": "a\x00"},
    ],
)
def test_what_programs_send_is_read_strictly(given: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        read_report(UUID(int=1), given)
