"""Answers to forms as they came, and which app's table each form's answers become rows of."""

from sqlalchemy import CheckConstraint, Column, Index, Text, Uuid
from sqlalchemy import Table as SqlTable
from sqlalchemy.dialects.postgresql import JSONB

from services.console.schema import app, when

form_answers = SqlTable(
    "form_answers",
    app,
    Column("answer_id", Uuid, primary_key=True),
    Column("item_id", Uuid, nullable=False),
    Column("form", Text, nullable=False),
    Column("visitor", Text, nullable=False),
    Column("answers", JSONB, nullable=False),
    when("at", nullable=False),
    Column("app", Text),
    Column("table_name", Text),
    Column("row_key", Text),
    Column("fault", Text),
    CheckConstraint("(row_key IS NULL) OR (app IS NOT NULL AND table_name IS NOT NULL AND fault IS NULL)"),
    Index("form_answers_by_age", "at"),
    Index("form_answers_of_form", "item_id", "form", "at"),
)
"""`row_key`: the record that it became; `fault`: why it did not, although there is a mapping. `visitor` is the day's pseudonym."""
form_mappings = SqlTable(
    "form_mappings",
    app,
    Column("item_id", Uuid, primary_key=True),
    Column("form", Text, primary_key=True),
    Column("app", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("fields", JSONB, nullable=False),
    Column("by_name", Text, nullable=False),
    when("at", nullable=False),
)
"""`fields`: column of the table by the form's field name; a field that is not named goes nowhere."""
