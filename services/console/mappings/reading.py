"""A mapping as forms and programs send it. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from schemas.text import text_fault
from services.console.mappings.domain import LONGEST, Report
from shared.errors import Refused, TooLarge

MOST_FILTERS = 10
TEXTS = ("name", "app", "table", "sort", "kind", "lang", "path", "audience", "template")


def read_report(mapping_id: UUID, given: Mapping[str, Any]) -> Report:
    """`given`: texts by TEXTS, `columns` and `filters` as lists of texts, `down`. Refused for what has another shape."""
    texts = {name: _text(given, name) for name in TEXTS}
    columns, filters = (_texts(given, name) for name in ("columns", "filters"))
    if len(filters) > MOST_FILTERS:
        raise Refused(f"At most {MOST_FILTERS} filters.", code="filter")
    template = texts["template"].replace("\r\n", "\n")
    fields = texts | {"template": template, "audience": texts["audience"] or "public"}
    return Report(
        mapping_id=mapping_id, columns=columns, filters=filters, down=given.get("down") in (True, "1", "on"), **fields
    )


def _text(given: Mapping[str, Any], name: str) -> str:
    found = given.get(name, "")
    fault = text_fault(found) if isinstance(found, str) else "it is something else"
    if not isinstance(found, str) or fault:
        raise Refused(f"{name} must be text: {fault}.", code="mapping")
    if len(found) > (LONGEST if name == "template" else 500):
        raise TooLarge(f"{name} is too long; a template has at most {LONGEST:,} characters, everything else 500.")
    return found if name == "template" else found.strip()


def _texts(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found: Sequence[Any] = given.get(name) or ()
    if isinstance(found, str) or not all(
        isinstance(each, str) and len(each) <= 3000 and not text_fault(each) for each in found
    ):
        raise Refused(f"{name} is a list of texts.", code="mapping")
    return tuple(dict.fromkeys(each.strip() for each in found if each.strip()))
