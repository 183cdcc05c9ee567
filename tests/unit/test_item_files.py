"""An item's own pictures, files and charts in its text; and which files beside a text go with it."""

from pathlib import Path

import pytest

from infra.cli.publish import beside
from schemas.content import Attachment
from shared.errors import Refused
from shared.markup import render

PICTURE = Attachment(
    name="gate.png", media_type="image/png", size=3, hash="a" * 64, width=1600, height=900, alt="A gate"
)
SMALL = Attachment(name="gate.640w.webp", media_type="image/webp", size=3, hash="b" * 64, width=640, height=360)
TABLE = Attachment(name="Übersicht.csv", media_type="text/csv", size=3, hash="c" * 64)
FILES = (PICTURE, TABLE, SMALL)


def shown(body: str) -> str:
    return render(body, "en", "a/b", files=FILES).html


def test_a_picture_is_shown_with_its_smaller_edition() -> None:
    html = shown('![two "gates" <b>](img/gate.png)')
    assert f'src="/a/{"a" * 64}/gate.png"' in html
    assert f'srcset="/a/{"b" * 64}/gate.640w.webp 640w, /a/{"a" * 64}/gate.png 1600w"' in html
    assert 'width="1600" height="900"' in html
    assert "<b>" not in html
    assert 'alt="A gate"' in shown("![](gate.png)")


@pytest.mark.parametrize("source", ["https://x.example/gate.png", "//x.example/gate.png", "javascript:gate.png", "data:image/png;base64,aa", "other.png", "Übersicht.csv", "gate.640w.webp"])  # fmt: skip
def test_nothing_else_becomes_a_picture(source: str) -> None:
    assert "<img" not in shown(f"![x]({source})")
    assert "<img" not in shown(f'<img src="{source}" onerror="x">')


def test_a_link_to_a_file_of_its_own_leads_there() -> None:
    assert f'href="/a/{"c" * 64}/%C3%9Cbersicht.csv"' in shown("[table](%C3%9Cbersicht.csv)")


def test_a_chart_is_drawn_with_its_table_and_what_is_unknown_is_no_zero() -> None:
    html = shown('```chart\ntitle: Ships <x>\nJan,120\n"Feb, b",\n```\n')
    assert html.count("<rect") == 1
    assert "<strong>Ships &lt;x&gt;</strong>" in html
    assert '<td>Feb, b</td><td class="num">–</td>' in html


@pytest.mark.parametrize("body", ["```chart\na,b\n```", "```chart\n```", "```chart\na,NaN\n```", '<div class="chart">0</div>', "```chart\na,1,2\n```"])  # fmt: skip
def test_what_is_no_chart_is_shown_as_it_was_written(body: str) -> None:
    assert "<svg" not in shown(body)


def test_files_beside_a_text_go_with_it_and_none_from_outside(tmp_path: Path) -> None:
    (tmp_path / "docs" / "img").mkdir(parents=True)
    for place in ("docs/img/gate.png", "docs/t.csv", "secret.csv", "docs/unnamed.csv"):
        (tmp_path / place).write_bytes(b"x")
    (tmp_path / "docs" / "link.csv").symlink_to(tmp_path / "secret.csv")
    text = "![](img/gate.png) [t](t.csv) [s](../secret.csv) [l](link.csv) [m](missing.csv) [w](https://x.example/t.csv)"
    page, root = tmp_path / "docs" / "page.md", tmp_path / "docs"
    assert [each.name for each in beside(page, root, text)] == ["gate.png", "t.csv"]
    assert [each.name for each in beside(page, root, "", [tmp_path / "secret.csv"])] == ["secret.csv"]
    (root / "img" / "t.csv").write_bytes(b"y")
    with pytest.raises(Refused, match="both be the attachment"):
        beside(page, root, "[t](t.csv) [u](img/t.csv)")


def test_a_link_between_pages_takes_no_page_along_as_a_file(tmp_path: Path) -> None:
    for name in ("index.md", "gate.md", "prices.csv"):
        (tmp_path / name).write_text("a,b\n")
    found = beside(tmp_path / "index.md", tmp_path, "[The gate](gate.md) and [prices](prices.csv), [itself](INDEX.md)")
    assert [each.name for each in found] == ["prices.csv"]
