"""Columns and values as people write them down in a sentence, in English and German. Pure."""

import re
from typing import Any

from services.agent.drafting.known import folded

_TYPES = {
    "text": "text", "word": "text", "words": "text", "string": "text", "zeichen": "text",
    "number": "integer", "integer": "integer", "whole": "integer", "count": "integer", "zahl": "integer", "ganzzahl": "integer", "anzahl": "integer",
    "decimal": "decimal", "amount": "decimal", "money": "decimal", "price": "decimal", "dezimalzahl": "decimal", "betrag": "decimal", "preis": "decimal", "kommazahl": "decimal",
    "yes/no": "boolean", "boolean": "boolean", "ja/nein": "boolean", "date": "date", "day": "date", "datum": "date", "tag": "date",
    "time": "instant", "instant": "instant", "timestamp": "instant", "zeit": "instant", "zeitpunkt": "instant", "uhrzeit": "instant", "json": "json",
}  # fmt: skip
_PART = re.compile(r"\s*(?:(?:the|an?|die|der|das|ein|eine)\s+)?(?P<title>[^()]{1,60}?)\s*(?:\((?P<says>[^()]{1,80})\))?\s*", re.IGNORECASE)  # fmt: skip
_SPLIT = re.compile(r"\s*(?:,|;|\band\b|\bund\b)\s*(?![^()]*\))", re.IGNORECASE)
_PAIR = re.compile(r"\s*(?P<name>[\wäöüß][\wäöüß \-]{0,59}?)\s*[:=]\s*(?P<value>.*?)\s*", re.IGNORECASE | re.DOTALL)
_PAIRS = re.compile(r"[,;\n]\s*(?=[\wäöüß][\wäöüß \-]{0,59}\s*[:=])", re.IGNORECASE)
MOST = 50


def read_columns(text: str) -> list[dict[str, Any]]:
    """“title, price (decimal), bought on (date)”: name, title and type of each; what may be shown says `shareable`. Empty when nothing is named."""
    found: dict[str, dict[str, Any]] = {}
    for each in _SPLIT.split(text.strip(" .!?:")):
        part = _PART.fullmatch(each) if each else None
        name = folded(part["title"]) if part else ""
        if part is None or not name or not name[0].isalpha() or name == "id":
            continue
        says = (part["says"] or "").casefold()
        column: dict[str, Any] = {"name": name, "title": part["title"].strip(), "type": _type(says)}
        if any(word in says for word in ("shareable", "public", "öffentlich", "teilbar")):
            column["visibility"] = "shareable"
        found.setdefault(name, column)
    return list(found.values())[:MOST]


def read_values(text: str) -> dict[str, str]:
    """“name: Ada, city: London”: texts by column; the console reads them by the column's type."""
    pairs = (_PAIR.fullmatch(each) for each in _PAIRS.split(text.strip().rstrip(".!?")))
    return {folded(each["name"]): each["value"].strip('"“”„') for each in pairs if each and folded(each["name"])}


def slug_of(title: str) -> str:
    """What an app is called in addresses."""
    found = folded(title).replace("_", "-")[:40].strip("-")
    return found if found and found[0].isalpha() else f"app-{found}"[:40].strip("-")


def _type(says: str) -> str:
    words = re.findall(r"[a-zäöüß]+(?:/[a-zäöüß]+)?", says)
    return next((_TYPES[each] for each in words if each in _TYPES), "text")
