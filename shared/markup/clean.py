"""The allow-list: what may be on a page, whatever the steps before did."""

import re
from functools import lru_cache

import nh3

from shared.markup.code import CLASSES
from shared.markup.files import SIZES

TAGS = frozenset(
    [
        "a",
        "abbr",
        "b",
        "blockquote",
        "br",
        "cite",
        "code",
        "dd",
        "del",
        "details",
        "dfn",
        "div",
        "dl",
        "dt",
        "em",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "img",
        "ins",
        "kbd",
        "li",
        "mark",
        "ol",
        "p",
        "pre",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "u",
        "ul",
        "var",
        "wbr",
    ]
)
SCHEMES = frozenset(("http", "https", "mailto", "item"))
BOX_CLASSES = frozenset(
    [
        "admonition",
        "admonition-title",
        "note",
        "info",
        "tip",
        "check",
        "warning",
        "danger",
        "details",
        "tab",
        "stack",
        "notes",
        "small",
        "chart",
    ]
)
_FILE = re.compile(r"/a/[0-9a-f]{64}/[A-Za-z0-9%@._~!$&'()*+,;=:-]+\Z")
"""Pictures come from the item's own attachments, and from nowhere else."""
_ID = re.compile(r"(?:h-\S+|fn-\d+|fnref-\d+(?:-\d+)?)\Z")
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")


def clean(html: str) -> str:
    """HTML of allowed tags, attributes, classes, ids and URL schemes only; well-formed."""
    return _cleaner().clean(html)


def _own_ids_only(_tag: str, attribute: str, value: str) -> str | None:
    if _tag == "img":
        return value if _is_of_a_picture(attribute, value) else None
    return value if attribute != "id" or _ID.match(value) else None


def _is_of_a_picture(attribute: str, value: str) -> bool:
    match attribute:
        case "src":
            return bool(_FILE.match(value))
        case "srcset":
            return all(_FILE.match(each.strip().split(" ")[0]) for each in value.split(", "))
        case "width" | "height":
            return value.isdigit()
    return True


@lru_cache(maxsize=1)
def _cleaner() -> nh3.Cleaner:
    boxes = ("div", "p", "summary", "details", "ol")
    return nh3.Cleaner(
        tags=set(TAGS),
        clean_content_tags={"script", "style"},
        attributes={
            "a": {"href", "title", "id"},
            "abbr": {"title"},
            "dfn": {"title"},
            "details": {"open"},
            "img": {"src", "srcset", "alt", "width", "height"},
            "li": {"id"},
            "ol": {"start"},
            **{name: {"id"} for name in _HEADINGS},
        },
        tag_attribute_values={
            "th": {"scope": {"col"}},
            "div": {"role": {"note"}},
            "img": {"loading": {"lazy"}, "sizes": {SIZES}},
        },
        allowed_classes={
            **{name: set(BOX_CLASSES) for name in boxes},
            "span": set(CLASSES),
            "table": {"grid"},
            "td": {"num"},
            "th": {"num"},
        },
        attribute_filter=_own_ids_only,
        url_schemes=set(SCHEMES),
        link_rel=None,
        strip_comments=True,
    )
