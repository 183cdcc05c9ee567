"""No source brings anything active onto a page, and no word of it is lost. PB-06."""

import re
import time
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.markup import plain_text, render, resolve
from shared.markup.clean import BOX_CLASSES, TAGS
from shared.markup.code import CLASSES

ATTRIBUTES = {
    "a": {"href", "title", "id", "rel", "aria-label"},
    "abbr": {"title"},
    "dfn": {"title"},
    "details": {"open", "class"},
    "summary": {"class"},
    "div": {"class", "role", "tabindex", "aria-label"},
    "p": {"class"},
    "pre": {"tabindex", "role", "aria-label"},
    "span": {"class"},
    "table": {"class"},
    "th": {"scope", "class"},
    "td": {"class"},
    "li": {"id"},
    "ol": {"start", "class"},
    **{f"h{level}": {"id"} for level in range(2, 7)},
}


def assert_harmless(html: str) -> None:
    for tag in BeautifulSoup(html, "html.parser").find_all(True):
        assert tag.name in TAGS, tag
        assert set(tag.attrs) <= ATTRIBUTES.get(tag.name, set()), tag
        assert set(tag.get("class") or ()) <= BOX_CLASSES | CLASSES | {"scroll", "grid", "num"}, tag
        assert tag.get("role") in (None, "note", "region"), tag
        assert re.fullmatch(r"(h-\S+|fn-\d+|fnref-\d+(-\d+)?)?", str(tag.get("id") or "")), tag
        if "href" in tag.attrs:
            address = str(tag["href"])
            assert address.startswith(("https://", "http://", "mailto:", "item:/", "#h-", "#fn")), tag
            assert urlsplit(address).scheme in ("", "http", "https", "mailto", "item"), tag


HOSTILE = [
    "<script>alert(1)</script>",
    "a <script>alert(1)</script> b",
    "<ScRiPt src=https://evil.example/x.js></sCrIpT >",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg onload=alert(1)><text>words</text><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<img src=x onerror=alert(1)>",
    "<img/src='x'/onerror=alert(1)//",
    "<p style='position:fixed' class='btn go' id=main data-act=approve hx-get=/x>text</p>",
    "<form action=/decide><button name=a>go</button><input value=x></form>",
    "<object data=x></object><embed src=x><base href=//evil.example><meta http-equiv=refresh content=0>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<details open ontoggle=alert(1)><summary>s</summary>x</details>",
    "<a href=' javascript:alert(1)'>x</a>",
    "<a href='java&#9;script:alert(1)'>x</a>",
    "<div role=alert aria-label=x tabindex=5>x</div>",
    '<abbr title="&quot;><script>alert(1)</script>">x</abbr>',
    "<abbr title=\"<a href='item:/x'>\">x</abbr>",
    "</div></article></main><div class=bar>x",
    "<!-- <script> --><b>x</b><!--",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<plaintext>x",
    "<textarea><img src=x onerror=alert(1)></textarea>",
    '[x](<"onclick=alert(1)>)',
    '[x](https://example.org/"onclick="alert(1))',
    '[x](https://example.org "\\" onclick=alert(1)")',
    '```"><script>alert(1)</script>\nx\n```',
    '## x {#a"onclick=alert(1)}',
    "[^<script>]: x\n\ny[^<script>]",
    '/// note | "><script>alert(1)</script>\nx\n///',
]


@pytest.mark.parametrize("source", HOSTILE)
@pytest.mark.parametrize("around", ["{}", "# t\n\n> - {}\n", "/// note\n{}\n///\n", "| a |\n|---|\n| {} |\n", "*{}*"])
def test_hostile_html_is_harmless(source: str, around: str) -> None:
    page = render(around.format(source), "en", "a/b")
    assert_harmless(page.html)
    assert_harmless(resolve(page.html, {"x": "/x"}.get).replace('href="/x"', ""))


SCHEMES = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "javascript&colon;alert(1)",
    "javascript&#58;alert(1)",
    "java&#x09;script:alert(1)",
    "java&Tab;script&NewLine;:alert(1)",
    "&#1;javascript:alert(1)",
    " javascript:alert(1)",
    "vbscript:msgbox(1)",
    "VBScript&#x3A;msgbox(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml;base64,PHN2Zz4=",
    "file:///etc/passwd",
    "blob:https://example.org/x",
    "jar:x",
    "feed:javascript:alert(1)",
]


@pytest.mark.parametrize("address", SCHEMES)
@pytest.mark.parametrize(
    "shape",
    [
        "[words]({})",
        "[words](<{}>)",
        "[words][r]\n\n[r]: {}",
        "[words][r]\n\n[r]: <{}>",
        "words <{}>",
        "![words]({})",
        "[![words](x.png)]({})",
        "<a href='{}'>words</a>",
        '<a href="{}">words</a>',
        "<img src='{}' alt=words>",
    ],
)
def test_pb_06_no_scheme_but_the_allowed_ones_is_a_link(address: str, shape: str) -> None:
    html = render(shape.format(address), "en", "a/b").html
    assert "words" in html
    for tag in BeautifulSoup(html, "html.parser").find_all(href=True):
        assert str(tag["href"]).startswith(("item:/", "https://example.org")), html
    assert_harmless(html)


def test_nothing_is_loaded() -> None:
    html = render(
        "![one](https://example.org/a.png) ![two](b.png) <img src='https://example.org/c.png'>", "en", "a"
    ).html
    assert "<img" not in html and 'href="https://example.org/a.png">one</a>' in html and " two " in html
    assert ">c.png</a>" in html


def test_harmless_html_survives() -> None:
    kept = "<b>b</b> <kbd>k</kbd> <sub>s</sub> <sup>p</sup> <ins>i</ins> <mark>m</mark> <br> <del>d</del>"
    html = render(
        f'{kept} <abbr title="long">a</abbr>\n\n<details>\n<summary>S</summary>\n\n*in*\n\n</details>\n', "en", "a"
    ).html
    assert kept in html and '<abbr title="long">a</abbr>' in html
    assert "<details>\n<summary>S</summary>\n<p><em>in</em></p>\n</details>" in html


def test_an_authors_tags_close_nothing_but_their_own() -> None:
    html = render("/// note\n\nx </div> y\n\n</div></div>\n\nz\n\n///\n\nafter", "en", "a").html
    note = BeautifulSoup(html, "html.parser").find("div")
    assert note is not None and "z" in note.get_text() and "after" not in note.get_text()
    assert render("*a <b>x* y\n\nnext", "en", "a").html.endswith("<p>next</p>\n")


SYMBOLS = r"""< > " ' & ` * _ [ ]( ) ![ ``` | |-| /// !!! [^1] [^1]: {#x} <b> </b> <div> </div> <table> <tr> <td> <a_href= <!-- --> <p> \\ ~~"""
PIECES = st.sampled_from(
    [
        *HOSTILE,
        *SCHEMES,
        *SYMBOLS.replace("_href", " href").split(" "),
        *(
            "\n",
            "\n\n",
            "    ",
            "\n> ",
            "\n- ",
            "\n1. ",
            "\n# ",
            "/// note\n",
            "///\n",
            "!!! tip\n    ",
            "item:/",
            "x=",
            "\x0b",
            "\u2028",
        ),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_no_mixture_brings_active_content(source: str) -> None:
    page = render(source.replace("\x00", ""), "en", "a/b")
    assert_harmless(page.html)
    assert BeautifulSoup(page.html, "html.parser").find(["script", "style", "img", "iframe", "svg"]) is None


MARKUP = st.sampled_from(
    [
        "*",
        "**",
        "_",
        "`",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "## ",
        "[",
        "]",
        "<b>",
        "</b>",
        "<i>",
        "<font>",
        "</section>",
        "<",
        "|",
        "/// note\n",
        "\n///\n",
        "~~",
        "!!! tip\n    ",
        "(",
        ")",
        "    ",
        "\n```\n",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(MARKUP, st.integers(0, 9999)), max_size=40))
def test_no_mixture_loses_a_word(parts: list[tuple[str, int]]) -> None:
    words = [f"wörd{number}" for _, number in parts]
    source = "".join(f"{mark} {word} " for (mark, _), word in zip(parts, words, strict=True))
    page = render("text\n\n" + source, "en", "a/b")
    shown = plain_text(page.html)
    assert all(word in shown for word in words)


SIZE = 512 * 1024
GROWING = {
    "brackets": "[" * 100_000,
    "quotes": ">" * 50_000 + " deepest",
    "pictures": "![" * (SIZE // 2),
    "stars": "*a **b " * (SIZE // 7),
    "open_tags": "<a b='" * (SIZE // 6),
    "comments": "x <!--" * (SIZE // 6),
    "raw_divs": "x" + "<div>" * (SIZE // 5),
    "spaces": "<p " + " " * SIZE,
    "lists": "- " * (SIZE // 2) + "deepest",
    "footnotes": "^[" * (SIZE // 2),
    "admonitions": "/// note\n" * (SIZE // 9) + "deepest",
    "same_headings": "# a\n" * (SIZE // 40),
    "wide_table": "|" + "a|" * 20_000 + "\n|" + "-|" * 20_000 + "\n" + "|x|\n" * 5_000,
    "long_table": "|a|b|\n|-|-|\n" + "|1|2|\n" * (SIZE // 12),
    "code": "```python\n" + '("' * 9_000 + "\n```\n",
}


@pytest.mark.parametrize("name", GROWING)
def test_hostile_sizes_take_bounded_time_and_lose_nothing(name: str) -> None:
    began = time.process_time()
    page = render(GROWING[name], "en", "a")
    assert time.process_time() - began < 20, "ordinary text of this size takes under a second"
    assert_bounded_depth(page.html)
    if GROWING[name].endswith("deepest"):
        assert "deepest" in page.html


def assert_bounded_depth(html: str) -> None:
    depth = deepest = 0
    for closing in re.findall(r"<(/?)(?:div|blockquote|ul|li|ol|b|i|p|span)\b", html):
        depth += -1 if closing else 1
        deepest = max(deepest, depth)
    assert deepest < 120


@pytest.mark.parametrize("use", ["[a]", "![a]"])
@pytest.mark.parametrize("definition", ["http://e.example/" + "x" * 100_000, '/x "' + "t" * 100_000 + '"'])
def test_an_address_written_once_and_used_often_does_not_fill_the_memory(use: str, definition: str) -> None:
    html = render(f"[a]: {definition}\n\n" + f"{use} " * 5_000, "en", "a").html
    assert len(html) < 12 * 1024 * 1024
    assert plain_text(html).count("a") >= 5_000, "no text is lost"
