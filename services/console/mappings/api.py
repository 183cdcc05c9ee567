"""Mappings for programs, over the same use cases as the page."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Body, FastAPI

from services.console.mappings import store
from services.console.mappings.operator import plain
from services.console.mappings.reading import read_report
from services.console.mappings.usecases.save_mapping import save_mapping
from services.console.mappings.usecases.submit_mapping import submit_mapping
from services.console.parts import Console
from shared.ids import new_id

Row = dict[str, Any]
Given = Annotated[Row, Body(description="name, app, table, columns (shareable ones), filters (`column:op:value`), sort, down, kind, lang, path, audience, template.")]  # fmt: skip


def add_routes(app: FastAPI, console: Console, known: Any) -> None:
    """`known`: the caller, found by the request's token."""

    @app.get("/v1/mappings", summary="The mappings from records to pages")
    async def mappings(caller: known) -> list[Row]:
        caller.require("read")
        async with console.db.reading() as tx:
            return [plain(store.report_of(row)) for row in await store.every(tx)]

    @app.post("/v1/mappings", status_code=201, summary="Make a mapping; an internal column cannot be picked")
    async def make_mapping(caller: known, given: Given) -> Row:
        report = read_report(new_id(), given)
        async with console.db.transaction() as tx:
            await save_mapping(tx, caller, report)
        return {"mapping_id": str(report.mapping_id)}

    @app.post("/v1/mappings/{mapping_id}/submissions", status_code=202, summary="Hand what a mapping makes to the lock")
    async def hand_in(caller: known, mapping_id: UUID) -> Row:
        async with console.db.transaction() as tx:
            sent = await submit_mapping(tx, caller, mapping_id)
        return {
            "submissions": [
                {"submission_id": str(each.submission_id), "item_id": str(each.item_id), "path": each.path}
                for each in sent
            ]
        }
