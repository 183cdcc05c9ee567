"""What the pages are given."""

from datetime import date

from pydantic import BaseModel


class Lying(BaseModel):
    name: str
    place: str
    until: date | None
