"""Which field of a form goes into which column. Pure."""

from collections.abc import Mapping

from services.console.records.domain import NUMBER, Shape
from shared.errors import Refused

ANSWERED_AT = "-answered-at"
"""Beside the form's own fields: when it was filled in. No field can be called so."""


def check_fields(shape: Shape, fields: Mapping[str, str]) -> dict[str, str]:
    """Column by field, without fields that go nowhere. Refused when columns are missing, taken twice, or needed and not filled."""
    chosen = {field: column for field, column in fields.items() if column}
    for column in chosen.values():
        shape.column(column)
    if not chosen:
        raise Refused("Choose a column for at least one field.", code="fields")
    if len(set(chosen.values())) != len(chosen):
        raise Refused("Two fields cannot go into one column.", code="fields")
    needed = [each.name for each in shape.columns.values() if each is not NUMBER and (each.required or each.name in shape.key) and each.name not in chosen.values()]  # fmt: skip
    if needed:
        raise Refused(f"{shape.name} needs {', '.join(needed)} in every row, and no field goes there.", code="fields")
    return chosen
