"""What a visitor filled in goes to staff, and to nobody else. Nothing of it is kept here."""

from collections.abc import Mapping

from schemas.content import Form
from schemas.site.v1 import FormAnswered
from services.site.answers.domain import answer_id
from services.site.publication.domain import Published
from shared.clock import now
from shared.db import Tx


async def answer_form(tx: Tx, item: Published, form: Form, visitor: str, answers: Mapping[str, str]) -> None:
    found = answer_id(item.item_id, visitor, form, answers)
    data = FormAnswered(
        answer_id=found, item_id=item.item_id, form=form.name, visitor=visitor, answers=dict(answers), at=now()
    )
    tx.stage("form.answered", data, key=str(found), version=1)
