"""What an app asks for, as text with values, and what it gets, in Python's types."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy.dialects.postgresql.asyncpg import dialect
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler

from shared.apps.values import to_json

_DIALECT = dialect()  # type: ignore[no-untyped-call]
_READ: dict[str, Any] = {
    "numeric": Decimal,
    "date": date.fromisoformat,
    "timestamptz": datetime.fromisoformat,
    "timestamp": datetime.fromisoformat,
}


def written(statement: Any, values: Sequence[Any]) -> tuple[str, list[Any]]:
    """(SQL with $1 …, values as they travel)."""
    if isinstance(statement, ClauseElement):
        made = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
        assert isinstance(made, SQLCompiler)
        order = made.positiontup or ()
        return str(made), [to_json(made.params[name]) for name in order]
    return str(statement), [to_json(each) for each in values]


def sent(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: sent(value) if name in ("key", "values") and isinstance(value, Mapping) else to_json(value)
        for name, value in row.items()
    }


def typed(frame: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows come as JSON texts; `types` says what each column is in the database."""
    types: dict[str, str] = frame["types"]
    return [
        {name: _value(value, types.get(name, "")) for name, value in json.loads(row, parse_float=Decimal).items()}
        for row in frame["rows"]
    ]


def _value(value: Any, kind: str) -> Any:
    if value is None or kind not in _READ:
        return value
    return _READ[kind](value if isinstance(value, Decimal) else str(value))
