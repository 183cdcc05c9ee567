"""Whole documents: small ones of our own, and the 120 real ones when they are there."""

import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.markup import parse_source, plain_text, render, resolve
from tests.factories.documents import SAMPLES, real_input

_FENCE = re.compile(r"^[ >]*(```+|~~~+).*$", re.MULTILINE)


def documents(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(language, item path, source) of every Markdown file under `folder`/<language>."""
    for file in sorted(folder.glob("*/**/*.md")):
        lang, *rest = file.relative_to(folder).with_suffix("").parts
        yield lang, "/".join(rest), file.read_text(encoding="utf-8")


def visible_words(body: str) -> Counter[str]:
    """Words that a reader of the source would expect on the page: no markup, no addresses, code as it is.

    Written apart from the renderer on purpose, with plain patterns.
    """
    kept: list[str] = []
    for number, part in enumerate(re.split(r"(?ms)^[ ]*(```.*?^[ ]*```[ ]*$)", body)):
        kept.append(part.split("\n", 1)[-1].rsplit("\n", 1)[0] if number % 2 else _prose(part))
    return Counter(re.findall(r"\w+", "\n".join(kept)))


def _prose(text: str) -> str:
    codes: list[str] = []

    def keep(found: re.Match[str]) -> str:
        codes.append(found["code"])
        return f"\x01{len(codes) - 1}\x01"

    text = re.sub(r"(`+)(?P<code>.+?)\1", keep, text)
    text = re.sub(r"(?m)^(?P<code>\{\* .* \*\})$", keep, text)
    text = re.sub(r"(?m)^\s*/{3,}\s*\w*\s*\|?", " ", text)
    text = re.sub(r"(?m)^(!!!|\?\?\?)\s+\w+", " ", text)
    text = re.sub(r"\[!\w+\]", " ", text)
    text = re.sub(r"\[\^\w+\]:?", " ", text)
    text = re.sub(r"(?m)\{\s*#[\w.-]+\s*\}\s*$", " ", text)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    text = re.sub(r"</?(?:b|i|em|strong|code|abbr|dfn|kbd|small|span|u|font|a)(?: [^>]*)?>", "", text)
    text = re.sub(r"</?[a-z]+(?:\s[^>]*)?>", " ", text)
    text = re.sub(r"(?m)^\s*\d+[.)] ", " ", text.replace("- [x]", "-"))
    text = (
        text.replace("&apos;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
        .replace("&quot;", '"')
    )
    text = text.replace("**", "").replace("~~", "")
    text = re.sub(r"(?<![\w\x01])[*_](?=\S)|(?<=\S)[*_](?![\w\x01])", "", text)
    return re.sub(r"\x01(\d+)\x01", lambda found: codes[int(found[1])], text)


def lost_words(lang: str, path: str, text: str) -> Counter[str]:
    source = parse_source(text)
    page = render(source.body, lang, path)
    return visible_words(source.body) - Counter(re.findall(r"\w+", f"{page.title}\n{plain_text(page.html)}"))


def dead_links(folder: Path) -> list[str]:
    """Links between documents of `folder` that do not resolve, though the other document is there."""
    found = {(lang, path): text for lang, path, text in documents(folder)}
    dead = []
    for (lang, path), text in found.items():
        page = render(parse_source(text).body, lang, path)
        asked: set[str] = set()
        resolve(page.html, lambda wanted, asked=asked: asked.add(wanted) or f"/{wanted}")  # type: ignore[func-returns-value]
        for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", _FENCE.sub("", text)):
            there = (Path("/") / Path(path).parent / link).as_posix()
            name = re.sub(r"/[^/]+/\.\.(?=/)", "", re.sub(r"/\./", "/", there)).strip("/").removesuffix(".md")
            while "/../" in f"/{name}":
                name = re.sub(r"(^|/)[^/]+/\.\.(?=/|$)", "", name).strip("/")
            if (lang, name) in found and name not in asked:
                dead.append(f"{lang}/{path}: {link}")
    return dead


@pytest.mark.parametrize(("lang", "path", "text"), list(documents(SAMPLES / "docs")))
def test_a_sample_keeps_its_words(lang: str, path: str, text: str) -> None:
    assert not lost_words(lang, path, text)


def test_links_between_samples_work() -> None:
    assert not dead_links(SAMPLES / "docs")
    page = render(parse_source((SAMPLES / "docs/en/index.md").read_text()).body, "en", "index")
    html = resolve(page.html, {"guide/gate": "/doc/en/guide/gate", "guide/signals": "/doc/en/guide/signals"}.get)
    assert 'href="/doc/en/guide/signals#h-what-counts"' in html
    assert "chapter on tides is" in html


def test_the_real_documents_keep_their_words() -> None:
    lost = {
        f"{lang}/{path}": dict(words)
        for lang, path, text in documents(real_input() / "docs")
        if (words := lost_words(lang, path, text))
    }
    assert not lost


def test_links_between_the_real_documents_work() -> None:
    assert not dead_links(real_input() / "docs")


def test_fragments_of_the_real_documents_lead_to_headings() -> None:
    pages = {
        (lang, path): render(parse_source(text).body, lang, path)
        for lang, path, text in documents(real_input() / "docs")
    }
    ids = {key: {name for _, name, _ in page.toc} for key, page in pages.items()}
    dead = [
        f"{lang}/{path} -> {target}#{fragment}"
        for (lang, path), page in pages.items()
        for target, fragment in re.findall(r'href="item:/([^"#]+)#([^"]+)"', page.html)
        if (lang, target) in ids and fragment not in ids[lang, target]
    ]
    assert not dead


def test_a_real_page_renders_in_milliseconds() -> None:
    took = []
    for lang, path, text in documents(real_input() / "docs"):
        body = parse_source(text).body
        began = time.process_time()
        render(body, lang, path)
        took.append(time.process_time() - began)
    assert statistics.median(took) < 0.015
