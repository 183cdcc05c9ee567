"""What an author writes and what a reader gets."""

import re

import pytest
from bs4 import BeautifulSoup

from shared.errors import Refused
from shared.markup import invisible, parse_source, plain_text, render, resolve


def html_of(body: str, lang: str = "en", path: str = "tutorial/first-steps") -> str:
    return render(body, lang, path).html


def test_the_first_heading_is_the_title_and_not_in_the_html() -> None:
    page = render("Before\n\n# The *title* { #top }\n\ntext\n", "en", "a")
    assert page.title == "The title"
    assert page.html == "<p>Before</p>\n<p>text</p>\n"
    assert render("text", "en", "a").title is None


def test_a_heading_stays_where_the_page_shows_another_title() -> None:
    assert '<h2 id="h-one">One</h2>' in render("# One\n", "en", "a", shown_title="Two").html
    assert render("# One\n", "en", "a", shown_title="One").html == ""


def test_headings_come_in_order_without_gaps() -> None:
    page = render("# T\n\n### deep\n\n### sister\n\n# second\n\n#### far { #far-away }\n", "en", "a")
    assert page.toc == (
        (2, "h-deep", "deep"),
        (2, "h-sister", "sister"),
        (2, "h-second", "second"),
        (3, "h-far-away", "far"),
    )


def test_ids_are_unique_and_apart_from_the_page() -> None:
    page = render("## main\n\n## main\n\n## main {#main}\n\n<div id=main>x</div>\n", "en", "a")
    assert [name for _, name, _ in page.toc] == ["h-main", "h-main-2", "h-main-3"]
    assert 'id="main"' not in page.html


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("body.md", "item:/tutorial/body"),
        ("./body.md#part", "item:/tutorial/body#h-part"),
        ("../tutorial/body.html", "item:/tutorial/body"),
        ("/tutorial/body", "item:/tutorial/body"),
        ("index.md", "item:/tutorial/index"),
        ("../", "item:/index"),
        ("security/", "item:/tutorial/security/index"),
        ("../über.md?x=1", "item:/%C3%BCber"),
        ("https://example.org/a?b=1&c=2#d", "https://example.org/a?b=1&amp;c=2#d"),
        ("//example.org/x", "https://example.org/x"),
        ("HTTPS://Example.org/x", "https://Example.org/x"),
        ("mailto:someone@example.org", "mailto:someone@example.org"),
        ("#here", "#h-here"),
    ],
)
def test_links_lead_where_they_should(link: str, place: str) -> None:
    assert f'href="{place}"' in html_of(f"## here\n\n[text]({link})\n")
    assert f'href="{place}"' in html_of(f'## here\n\n<a href="{link}">text</a>\n')


@pytest.mark.parametrize(
    "link",
    [
        "../../../etc",
        "../..",
        "#nowhere",
        "/",
        "a%2f%2e%2e%5cb",
        "a%00b.md",
        "a\\b",
        "http:",
        "https:evil.example",
        "item:/a",
        "tel:1",
    ],
)
def test_links_that_lead_nowhere_are_text(link: str) -> None:
    assert html_of(f"[text](<{link}>)") == "<p>text</p>\n"


def test_links_to_other_sites_say_so() -> None:
    assert '<a rel="noopener noreferrer nofollow" href="https://example.org">' in html_of("[a](https://example.org)")
    assert "rel=" not in html_of("[a](b.md)")


def test_placeholders_become_addresses_or_text() -> None:
    html = html_of('[one](body.md#x) and [two **bold**](gone.md "title") and [three](https://example.org)')
    asked: list[str] = []

    def lookup(path: str) -> str | None:
        asked.append(path)
        return "/doc/en/a?b&c" if path == "tutorial/body" else None

    done = resolve(html, lookup)
    assert '<a href="/doc/en/a?b&amp;c#h-x">one</a> and two <strong>bold</strong> and <a rel=' in done
    assert "item:" not in done
    assert asked == ["tutorial/body", "tutorial/gone", "tutorial/gone/index"]


def test_a_folder_link_finds_the_index_and_the_other_way_round() -> None:
    html = html_of("[a](security/) [b](sub)")
    known = {"tutorial/security": "/s", "tutorial/sub/index": "/i"}
    assert resolve(html, known.get) == '<p><a href="/s">a</a> <a href="/i">b</a></p>\n'


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("/// note | Mind the *gap*\nbody\n///", "Mind the <em>gap</em>"),
        ("/// Tip\nbody\n///", "Tip"),
        ('!!! warning "Careful"\n    body', "Careful"),
        ("> [!CAUTION]\n> body", "Warning"),
    ],
)
def test_admonitions_in_every_spelling(source: str, shown: str) -> None:
    html = html_of(source)
    assert f'<p class="admonition-title">{shown}</p>' in html
    assert "<p>body</p>" in html and 'role="note"' in html
    assert "///" not in html


def test_admonitions_speak_the_items_language() -> None:
    assert ">Hinweis</p>" in html_of("/// note\nx\n///", "de-AT")
    assert ">Note</p>" in html_of("/// note\nx\n///", "fr")


def test_nested_blocks_and_fences_keep_their_slashes() -> None:
    html = html_of("//// tab | One\n\n/// note\n\n```c\n///\nint a;\n```\n\nend\n\n///\n\n////\n\nafter")
    soup = BeautifulSoup(html, "html.parser")
    note = soup.select_one("div.tab div.note")
    assert note is not None and "///" in note.get_text() and "end" in note.get_text()
    assert html.endswith("</div>\n<p>after</p>\n")


def test_unknown_and_unclosed_blocks_lose_nothing() -> None:
    assert "/// whatever" in html_of("/// whatever\n\nx")
    assert "<p>x</p>" in html_of("/// note\n\nx")


def test_details_fold() -> None:
    assert '<summary class="admonition-title">More</summary>' in html_of("/// details | More\nx\n///")
    assert "<details" in html_of('??? note "More"\n    x')


@pytest.mark.parametrize("info", ["python", 'Python hl_lines="2"', "{ .python .annotate hl_lines='1' }", "py"])
def test_code_is_coloured_with_the_classes_of_the_style_sheet(info: str) -> None:
    html = html_of(f"```{info}\ndef f(x: int) -> str:\n    return 'a'  # why\n```\n")
    assert '<span class="nf">f</span>' in html and '<span class="c1"># why' in html
    assert set(re.findall(r'class="(\w+)"', html)) <= {"k", "kn", "s", "s1", "s2", "m", "mi", "nb", "nf", "nc", "c1"}


@pytest.mark.parametrize("info", ["", "mermaid", 'hl_lines="4"', "no-such-language"])
def test_code_of_unknown_languages_is_plain(info: str) -> None:
    assert "<code>a &lt;b&gt; def\n</code>" in html_of(f"```{info}\na <b> def\n```\n")


def test_what_scrolls_has_a_name_of_its_own() -> None:
    html = html_of(
        "```\na\n```\n\n    b\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n<table><tr><td>x</td></tr></table>\n", "de"
    )
    assert re.findall(r'tabindex="0" role="region" aria-label="([^"]+)"', html) == [
        "Code 1",
        "Code 2",
        "Tabelle 1",
        "Tabelle 2",
    ]
    assert '<th scope="col" class="num">b</th>' in html and html.count('<div class="scroll"') == 2


def test_footnotes_go_both_ways_and_none_is_lost() -> None:
    html = html_of("One[^a] and one[^a].\n\n[^a]: The note.\n[^b]: Nobody asked.\n")
    assert 'href="#fn-1" id="fnref-1">1</a>' in html and 'id="fnref-1-2"' in html
    assert 'href="#fnref-1"' in html and "Nobody asked." in html
    assert plain_text(html).splitlines()[0] == "One and one."


def test_include_lines_stay_visible() -> None:
    assert "<code>{* ../../src/a_b/c_d.py hl[1] *}</code>" in html_of("{* ../../src/a_b/c_d.py hl[1] *}")


def test_tasks_show_a_sign() -> None:
    assert "<li>☐ todo" in html_of("- [ ] todo\n- [x] done") and "<li>☑ done" in html_of("- [ ] todo\n- [x] done")


def test_a_summary_is_the_first_paragraph_cut_at_a_word() -> None:
    page = render("# T\n\n" + "word " * 100, "en", "a")
    assert page.summary.endswith("word…") and len(page.summary) <= 240
    assert page.words == 100


def test_plain_text_keeps_words_apart_and_whole() -> None:
    assert plain_text(html_of("| a | b |\n|---|---|\n| c | **d**e |\n")).split() == ["a", "b", "c", "de"]
    assert plain_text(html_of("a &lt;b&gt; `c<d`")) == "a <b> c<d"


def test_the_same_text_gives_the_same_bytes() -> None:
    body = "# T\n\n[a](b.md) <kbd>x</kbd> *y*\n" * 50
    assert render(body, "en", "p") == render(body, "en", "p")


def test_front_matter_gives_title_and_summary() -> None:
    source = parse_source("\ufeff---\ntitle: 'A: b'\nsummary: >\n  two\n  lines\n---\n\n# Other\n")
    assert (source.title, source.summary, source.body) == ("A: b", "two lines", "# Other\n")


def test_the_title_is_the_first_heading_without_front_matter() -> None:
    assert parse_source("text\n\n# A `b` *c* { #d }\n").title == "A b c"
    assert parse_source("Title\n=====\n\nx").title == "Title"


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("no heading", "no_title", "needs a title"),
        ("---\ntitle: a: b\n---\n# x", "front_matter", "line 2"),
        ("---\n- a\n---\n# x", "front_matter", "key: value"),
        ("---\njust text\n---\n# x", "front_matter", "empty line before"),
        ("---\ntitle: a\nauthor: b\n---\n", "front_matter", "line 3"),
        ("---\ntitle: a\nauthor: b\n---\n", "front_matter", "title and summary"),
        ("---\ntitle: a\ntitle: b\n---\n", "front_matter", "twice"),
        ("---\ntitle:\n  a: b\n---\n", "front_matter", "not text"),
        ("---\n" + "[" * 9000 + "\n---\n# x", "front_matter", "8 KiB"),
        ("---\n" + "[" * 4000 + "\n---\n# x", "front_matter", "YAML"),
        ("---\ntitle: \x00\n---\n", "text", "NUL"),
        ("# a\ud800", "text", "surrogate"),
        ("# " + "x" * 501, "too_long", "500"),
    ],
)
def test_bad_sources_are_refused_with_what_to_do(text: str, code: str, says: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_source(text)
    assert refused.value.code == code and says in refused.value.message


def test_a_rule_at_the_start_is_not_front_matter() -> None:
    assert parse_source("---\n\n# Title\n").title == "Title"
    assert parse_source(" ---\nx\n---\n\n# Title\n").title


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\u202eb", [(1, 2, "RIGHT-TO-LEFT OVERRIDE")]),
        ("a\nb\u200b", [(2, 2, "ZERO WIDTH SPACE")]),
        ("x\u3164y", [(1, 2, "HANGUL FILLER")]),
        ("\ta\r\nb", []),
        ("ä ö 👩\u200d💻 \u00a0", []),
        ("می\u200cخواهم", []),
        ("a\u200db", [(1, 2, "ZERO WIDTH JOINER")]),
        ("❤\ufe0f 1\ufe0f\u20e3 ℹ\ufe0f ‼\ufe0f 葛\U000e0100", []),
        ("a\ufe0f", [(1, 2, "VARIATION SELECTOR-16")]),
        ("\ufe01", [(1, 1, "VARIATION SELECTOR-2")]),
        ("😀\U000e0158\U000e0159", [(1, 3, "VARIATION SELECTOR-106")]),
    ],
)
def test_invisible_characters_are_named(text: str, found: list[tuple[int, int, str]]) -> None:
    assert invisible(text) == found


def test_what_has_no_words_is_not_there() -> None:
    html = html_of(
        "## \n\n[](https://example.org)\n\n<details><summary></summary>x</details>\n\n| | b |\n|---|---|\n| 1 | 2 |\n"
    )
    assert not re.search(r"<(h2|a|summary|p|th)[^>]*></", html) and "<td></td>" in html
