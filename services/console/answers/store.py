"""Answers to forms in console_db, and their mappings."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from schemas.site.v1 import FormAnswered
from services.console.answers.tables import form_answers, form_mappings
from shared.db import Tx

SHOWN = 100


async def keep(tx: Tx, data: FormAnswered) -> bool:
    """False when it is there already."""
    row = data.model_dump()
    fresh = insert(form_answers).values(row).on_conflict_do_nothing(index_elements=["answer_id"])
    return await tx.execute(fresh) == 1


async def mapping(tx: Tx, item_id: UUID, form: str) -> RowMapping | None:
    """Where the answers of this form go. None: they wait on their page."""
    found = select(form_mappings).where(form_mappings.c.item_id == item_id, form_mappings.c.form == form)
    return await tx.row(found)


async def map_to(tx: Tx, row: Mapping[str, Any]) -> None:
    fresh = insert(form_mappings).values(row)
    named = {name: fresh.excluded[name] for name in row if name not in {"item_id", "form"}}
    await tx.execute(fresh.on_conflict_do_update(index_elements=["item_id", "form"], set_=named))


async def unmap(tx: Tx, item_id: UUID, form: str) -> None:
    await tx.execute(delete(form_mappings).where(form_mappings.c.item_id == item_id, form_mappings.c.form == form))


async def note_row(tx: Tx, answer_id: UUID, app: str, table: str, key: str) -> None:
    became = {"app": app, "table_name": table, "row_key": key, "fault": None}
    await tx.execute(update(form_answers).where(form_answers.c.answer_id == answer_id).values(became))


async def note_fault(tx: Tx, answer_id: UUID, fault: str) -> None:
    """Why it became no row; it can be tried again."""
    await tx.execute(update(form_answers).where(form_answers.c.answer_id == answer_id).values(fault=fault[:500]))


async def waiting(tx: Tx, item_id: UUID, form: str, limit: int) -> Sequence[RowMapping]:
    """Answers that are no rows yet, the oldest first; nobody else places them until the transaction ends."""
    found = select(form_answers).where(
        form_answers.c.item_id == item_id, form_answers.c.form == form, form_answers.c.row_key.is_(None)
    )
    return await tx.rows(found.order_by(form_answers.c.at).limit(limit).with_for_update(skip_locked=True))


async def forms(tx: Tx) -> Sequence[RowMapping]:
    """Every form that was answered or mapped: how many answers, how many are rows, where they go."""
    counted = (
        select(
            form_answers.c.item_id,
            form_answers.c.form,
            func.count().label("answers"),
            func.count(form_answers.c.row_key).label("placed"),
            func.count(form_answers.c.fault).label("faults"),
            func.max(form_answers.c.at).label("last_at"),
        )
        .group_by(form_answers.c.item_id, form_answers.c.form)
        .subquery()
    )
    both = counted.outerjoin(
        form_mappings,
        (form_mappings.c.item_id == counted.c.item_id) & (form_mappings.c.form == counted.c.form),
        full=True,
    )
    found = select(
        func.coalesce(counted.c.item_id, form_mappings.c.item_id).label("item_id"),
        func.coalesce(counted.c.form, form_mappings.c.form).label("form"),
        func.coalesce(counted.c.answers, 0).label("answers"),
        func.coalesce(counted.c.placed, 0).label("placed"),
        func.coalesce(counted.c.faults, 0).label("faults"),
        counted.c.last_at,
        form_mappings.c.app,
        form_mappings.c.table_name,
    ).select_from(both)
    return await tx.rows(found.order_by(counted.c.last_at.desc().nulls_last()).limit(SHOWN))


async def of_form(tx: Tx, item_id: UUID, form: str, limit: int = SHOWN) -> Sequence[RowMapping]:
    """The newest first."""
    found = select(form_answers).where(form_answers.c.item_id == item_id, form_answers.c.form == form)
    return await tx.rows(found.order_by(form_answers.c.at.desc(), form_answers.c.answer_id).limit(limit))
