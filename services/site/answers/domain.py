"""What a visitor filled into a form, checked field by field. Pure."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from uuid import UUID, uuid5

from schemas.content import Form, FormField
from schemas.text import canonical

PREFIX = "f_"
"""Before a field's name, so that it meets none of the page's own."""
TICKED = "yes"
LONGEST_LINE = 500
_EMAIL = re.compile(r"[^\s@<>\"(),;:]{1,64}@[^\s@<>\"(),;:]{1,190}\.[^\s@<>\"(),;:.]{2,63}")
_NUMBER = re.compile(r"[+-]?\d{1,30}([.,]\d{1,20})?")


@dataclass(frozen=True)
class Filled:
    """`answers`: what was typed, by field name. `faults`: by field name, which of the words says what is wrong."""

    answers: Mapping[str, str]
    faults: Mapping[str, str]


def read_answers(form: Form, given: Mapping[str, str]) -> Filled:
    answers: dict[str, str] = {}
    faults: dict[str, str] = {}
    for field in form.fields:
        value = _clean(field, given.get(PREFIX + field.name, ""))
        fault = _fault(field, value)
        if fault:
            faults[field.name] = fault
        answers[field.name] = value
    return Filled(answers, faults)


def _clean(field: FormField, value: str) -> str:
    text = unicodedata.normalize("NFC", value.replace("\r\n", "\n")).strip()
    if field.kind == "tick":
        return TICKED if text else ""
    return text if field.kind == "long" else " ".join(text.split())


def _fault(field: FormField, value: str) -> str:
    if not value:
        return "missing" if field.required else ""
    if len(value) > (field.longest if field.kind in ("text", "long") else LONGEST_LINE):
        return "too_long"
    match field.kind:
        case "email" if not _EMAIL.fullmatch(value):
            return "no_email"
        case "number" if not _is_number(value):
            return "no_number"
        case "date" if not _is_date(value):
            return "no_date"
        case "choice" if value not in field.choices:
            return "no_choice"
    return ""


def _is_number(value: str) -> bool:
    try:
        return bool(_NUMBER.fullmatch(value)) and Decimal(value.replace(",", ".")).is_finite()
    except InvalidOperation:
        return False


def _is_date(value: str) -> bool:
    try:
        return len(value) == 10 and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def answer_id(item_id: UUID, visitor: str, form: Form, answers: Mapping[str, str]) -> UUID:
    """The same answers of the same visitor to the same form are one, however often they were sent on that day."""
    return uuid5(item_id, canonical([visitor, form.name, dict(answers)]).hex())
