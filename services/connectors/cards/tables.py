"""Cards whose time is over and of which that was told. The cards themselves are in the book."""

from sqlalchemy import Column, Table, Uuid

from services.connectors.schema import app, written

expired_cards = Table("expired_cards", app, Column("card_id", Uuid, primary_key=True), written())
