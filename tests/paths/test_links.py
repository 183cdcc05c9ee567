"""PB-06: active content and link schemes, decided on the rendered result: the public page and the reviewer's preview."""

from uuid import uuid4

import pytest
from bs4 import BeautifulSoup

from tests.factories.documents import Item, decide, submit, withdraw
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack

HOSTILE = {
    "plain": "[x](javascript:alert(1))",
    "mixed case": "[x](JaVaScRiPt:alert(1))",
    "entity colon": "[x](javascript&#58;alert(1)) [x](javascript&colon;alert(1))",
    "encoded letters": "[x](&#x6A;avascript:alert(1))",
    "leading space": "[x](<  javascript:alert(1)>)",
    "tab inside": "[x](<java\tscript:alert(1)>) [x](<java&Tab;script:alert(1)>) [x](<java&NewLine;script:alert(1)>)",
    "control characters": "[x](<\x01javascript:alert(1)>)",
    "vbscript": "[x](vbscript:msgbox(1))",
    "data": "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "file": "[x](file:///etc/passwd)",
    "reference": "[x][r]\n\n[r]: javascript:alert(1)",
    "autolink": "<javascript:alert(1)> <vbscript:x>",
    "image": "![x](javascript:alert(1)) ![x](data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=)",
    "raw anchor": '<a href="javascript:alert(1)">x</a> <a href=" &#14; javascript:alert(1)">x</a>',
    "script": "<script>alert(1)</script>",
    "event": '<img src=x onerror="alert(1)"> <b onmouseover=alert(1)>b</b>',
    "frames": '<iframe src="https://evil.example"></iframe><object data="x"></object><embed src="x">',
    "svg": '<svg onload=alert(1)><script>alert(1)</script></svg><math><mi xlink:href="javascript:alert(1)">x</mi></math>',
    "forms": '<form action="https://evil.example"><input name=q><button data-act="approve" hx-post="/x">go</button></form>',
    "style": '<style>body{display:none}</style><p style="position:fixed">p</p><link rel=stylesheet href=//evil.example>',
    "meta": '<meta http-equiv="refresh" content="0;url=https://evil.example"><base href="https://evil.example">',
}
GOOD = "[a](https://example.org/x) [b](http://example.org) [c](mailto:a@example.org) [d](#part)"


def faults(html: str) -> list[str]:
    """What is active in a rendered article, by what a browser would make of it."""
    soup = BeautifulSoup(html, "html.parser")
    found = [
        tag.name
        for tag in soup.find_all(
            [
                "script",
                "iframe",
                "object",
                "embed",
                "form",
                "input",
                "button",
                "style",
                "link",
                "meta",
                "base",
                "svg",
                "math",
            ]
        )
    ]
    for tag in soup.find_all(True):
        for name, value in tag.attrs.items():
            if name.startswith(("on", "hx-", "data-")) or name in {"style", "srcdoc", "formaction"}:
                found.append(f"{tag.name} {name}")
            if name in {"href", "src", "action", "xlink:href"} and not harmless(str(value)):
                found.append(f"{tag.name} {name}={value}")
    return found


def harmless(address: str) -> bool:
    clean = "".join(char for char in address if char > " ").lower()
    scheme, colon, _ = clean.partition(":")
    relative = not colon or any(char in scheme for char in "/?#")
    return relative or scheme in {"http", "https", "mailto"}


@pytest.fixture(scope="module")
def hostile(stack: Stack) -> Item:
    text = "\n\n".join(f"## {name}\n\n{text}" for name, text in HOSTILE.items())
    item = submit(stack, f"# Links {uuid4().hex[:8]}\n\n{GOOD}\n\n{text}\n", name=f"links-{uuid4().hex[:8]}")
    decide(stack, item)
    return item


def check_article(article: str) -> None:
    assert faults(article) == []
    soup = BeautifulSoup(article, "html.parser")
    links = {str(each.get("href")) for each in soup.find_all("a")}
    assert {"https://example.org/x", "http://example.org", "mailto:a@example.org"} <= links
    words = soup.get_text(" ")
    assert all(name in words for name in HOSTILE), "the text stays"


def test_pb_06_the_public_page_has_no_active_link(hostile: Item, visitor: Visitor) -> None:
    until(lambda: visitor.sees(hostile), 5)
    soup = BeautifulSoup(visitor.get(hostile.url).text, "html.parser")
    article = soup.select_one("article.prose")
    assert article is not None
    check_article(str(article))


def test_pb_06_the_moderators_preview_has_no_active_link(hostile: Item, moderator: Person) -> None:
    shown = moderator.page(f"/queue/{hostile.item_id}/preview")
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert "sandbox" in shown.headers["content-security-policy"]
    body = BeautifulSoup(shown.text, "html.parser").body
    assert body is not None
    check_article(str(body))


def test_pb_06_the_console_shows_the_preview_in_a_sandbox_only(hostile: Item, moderator: Person) -> None:
    for path in (f"/queue/{hostile.item_id}", f"/queue/{hostile.item_id}/history"):
        soup = BeautifulSoup(moderator.page(path).text, "html.parser")
        assert all(frame.has_attr("sandbox") and not frame["sandbox"] for frame in soup.find_all("iframe"))
        assert not any("javascript:" in str(a.get("href")) for a in soup.find_all("a"))
        assert not any("evil.example" in str(tag.get("src")) for tag in soup.find_all(True))


def test_the_sites_policy_allows_nothing_foreign(visitor: Visitor, hostile: Item) -> None:
    until(lambda: visitor.sees(hostile), 5)
    policy = visitor.get(hostile.url).headers["content-security-policy"]
    assert "default-src 'none'" in policy or "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy


def test_feedback_is_shown_as_text_that_can_do_nothing(
    hostile: Item, stack: Stack, visitor: Visitor, owner: Person
) -> None:
    until(lambda: visitor.sees(hostile), 5)
    word = uuid4().hex[:8]
    visitor.say(hostile, f"<img src=x onerror=alert(1)> [x](javascript:alert(1)) {word}")
    shown = until(
        lambda: (text := owner.page("/analytics").text) and word in text and text, 15, "the feedback is shown"
    )
    soup = BeautifulSoup(shown, "html.parser")
    assert not any(name.startswith("on") for tag in soup.find_all(True) for name in tag.attrs)
    assert not any("javascript:" in str(a.get("href")) for a in soup.find_all("a"))


def test_item_links_work_and_links_to_what_is_not_published_are_text(stack: Stack, visitor: Visitor) -> None:
    mark = uuid4().hex[:8]
    target = submit(stack, "# Target\n\n## Some part\n\nhere\n", kind="doc", name=f"target-{mark}")
    source = submit(stack, f"# From\n\n[works](target-{mark}.md#some-part) [unpublished](missing-{mark}.md)\n", kind="doc", name=f"from-{mark}"
    )  # fmt: skip
    decide(stack, source)
    until(lambda: visitor.sees(source), 5)
    assert target.url not in visitor.get(source.url).text, "the target is not public yet"
    decide(stack, target)
    until(lambda: f'href="{target.url}#' in visitor.get(source.url).text, 5)
    [link] = BeautifulSoup(visitor.get(source.url).text, "html.parser").select(f'article a[href^="{target.url}#"]')
    place = str(link["href"]).partition("#")[2]
    assert BeautifulSoup(visitor.get(target.url).text, "html.parser").find(id=place), (
        "the part that it leads to is there"
    )
    assert f"missing-{mark}" not in str(BeautifulSoup(visitor.get(source.url).text, "html.parser").select("article a"))
    withdraw(stack, target)
    until(lambda: target.url not in visitor.get(source.url).text, 3, "the link became text")
