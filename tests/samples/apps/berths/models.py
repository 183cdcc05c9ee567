"""Boats and the berths that they lie at."""

from datetime import date
from decimal import Decimal

from sqlalchemy import JSON, Enum, ForeignKey, Numeric
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Boat(Base):
    __tablename__ = "boats"
    __table_args__ = {"info": {"title": "Boats", "name_by": "name"}}

    registration: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(info={"visibility": "shareable"})
    length: Mapped[Decimal | None] = mapped_column(Numeric, info={"title": "Length in metres"})
    owner_mail: Mapped[str | None] = mapped_column(unique=True)


class Berth(Base):
    __tablename__ = "berths"

    id: Mapped[int] = mapped_column(primary_key=True)
    boat: Mapped[str] = mapped_column(ForeignKey("boats.registration"))
    place: Mapped[str] = mapped_column(Enum("north", "south", name="place"), index=True)
    until: Mapped[date | None]
    papers: Mapped[dict[str, str] | None] = mapped_column(JSON)
