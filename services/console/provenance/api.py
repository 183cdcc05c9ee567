"""Where an item comes from, for programs."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field

from services.console.parts import Console
from services.console.people.domain import Caller
from services.console.provenance.domain import Provenance
from services.console.provenance.reading import read_provenance


class ReceiptFigures(BaseModel):
    """What lets the revision be public; null where there is none yet."""

    content_hash: str
    verdict: str | None
    reviewed_by: str | None
    reason: str | None
    signed_at: datetime | None
    key_id: str | None
    statement_hash: str | None
    gate_seq: int | None = Field(description="Its place in the gate's log.")
    stored_at: datetime | None = Field(description="When the site had verified and stored it.")


class StationFigures(BaseModel):
    """One station of the way, in time order; `gap` in milliseconds since the one before."""

    side: str = Field(description="pass: inside; wait: the gate; live: outside")
    title: str
    where: str
    at: datetime
    gap: float | None
    waited: bool


class ProvenanceFigures(BaseModel):
    """Of the revision that is public, or of the newest when none is."""

    item_id: UUID
    kind: str
    lang: str
    path: str
    title: str
    state: str
    revision: int
    public: bool
    proposed_by: str
    via: str
    conversation_id: UUID | None
    turn_id: UUID | None
    receipt: ReceiptFigures
    stations: list[StationFigures]
    live_ms: float | None = Field(description="From decision to live.")
    live_since: datetime | None
    since: dict[str, int] = Field(description="What visitors did since then, by kind.")
    votes: dict[str, int] = Field(description="As they stand now.")


def figures_of(found: Provenance) -> ProvenanceFigures:
    return ProvenanceFigures(**asdict(found))


def add_routes(app: FastAPI, console: Console, known: Any) -> None:
    @app.get("/v1/provenance", summary="Where an item comes from, and what came back")
    async def provenance(
        caller: known,
        address: Annotated[
            str, Query(max_length=3000, description="An address of the site, kind/lang/path, or an id.")
        ],
    ) -> ProvenanceFigures:
        assert isinstance(caller, Caller)
        caller.require("read")
        return figures_of(await read_provenance(console.db, address))
