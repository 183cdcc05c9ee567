"""Words and links of Markdown by a plain reading of its source, to compare with what was rendered."""

import re
from collections import Counter
from pathlib import Path
from posixpath import dirname, normpath

from bs4 import BeautifulSoup

FENCE = re.compile(r"^ {0,12}(`{3,}|~{3,}).*?^ {0,12}\1[`~]*\s*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`+[^`\n]+`+")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)")
WORD = re.compile(r"[^\W_\d]{2,}", re.UNICODE)
TARGET = re.compile(
    r"\]\([^)]*\)|\]\[[^\]]*\]|^\s*\[[^\]]+\]:.*$|<[^<>\n]*>|<!--.*?-->|\{[^}\n]*\}|https?://\S+",
    re.DOTALL | re.MULTILINE,
)
ENTITY = re.compile(r"&[a-zA-Z]+;|&#\w+;")
ADMONITION = re.compile(r"^ *(?:!!!|\?\?\?\+?|///+)[^\n]*$", re.MULTILINE)


def inner_links(text: str, path: str, known: set[str]) -> set[str]:
    """Items (paths without extension) among `known` that a document links to, outside of code."""
    plain = CODE.sub("", FENCE.sub("", text))
    found = set()
    for address in LINK.findall(plain):
        target = address.partition("#")[0]
        if target.endswith(".md") and "://" not in target:
            resolved = normpath(f"{dirname(path)}/{target}".lstrip("/")).removesuffix(".md")
            found |= {resolved} & known
    return found


def source_words(text: str) -> Counter[str]:
    """The words that a reader must find on the page: prose and code, without addresses, tags and attributes."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    code = " ".join(match[0] for match in FENCE.finditer(text))
    prose = ENTITY.sub(" ", TARGET.sub(" ", ADMONITION.sub(" ", FENCE.sub(" ", text))))
    code = re.sub(r"^\s*(`{3,}|~{3,}).*$", " ", code, flags=re.MULTILINE)
    return Counter(WORD.findall(prose.lower())) + Counter(WORD.findall(code.lower()))


def page_words(html: str) -> Counter[str]:
    """The words of the article, with and without a gap where a tag stands: `**Web**hooks` reads both ways."""
    article = BeautifulSoup(html, "html.parser").select_one("article.prose")
    assert article is not None, "the page has an article"
    inside, between = (Counter(WORD.findall(article.get_text(gap).lower())) for gap in ("", " "))
    return inside | between


def files_in(folder: Path) -> dict[str, str]:
    """Item path -> source text."""
    return {
        file.relative_to(folder).with_suffix("").as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*.md"))
    }
